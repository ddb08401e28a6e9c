//! Decodes arbitrary bytes as blocks. The first byte chooses the format, the rest is a row.
//!
//! Checks that a block has the same weights alone and in a row, and at even and odd addresses.
//! Finite weights can be quantized again. If all are below 60,000, the result is finite.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiny_llm_formats::gguf::TensorType;
use tiny_llm_reference::week2::blocks::{dequantize_row, quantize_row};

fuzz_target!(|data: &[u8]| {
    let Some((choice, row)) = data.split_first() else { return };
    let tensor_type = TensorType::ALL[usize::from(*choice) % TensorType::ALL.len()];
    let (len, bytes) = (tensor_type.block_len(), tensor_type.block_bytes());
    let row = &row[..row.len() / bytes * bytes];
    let decoded = decode(tensor_type, row);

    let mut shifted = vec![0; 1];
    shifted.extend(row);
    assert_eq!(
        bits(&decode(tensor_type, &shifted[1..])),
        bits(&decoded),
        "{tensor_type}: at another address"
    );
    for (block, weights) in row.chunks(bytes).zip(decoded.chunks(len)) {
        assert_eq!(
            bits(&decode(tensor_type, block)),
            bits(weights),
            "{tensor_type}: a block alone"
        );
        if weights.iter().all(|x| x.is_finite()) {
            let mut again = vec![0; bytes];
            quantize_row(tensor_type, weights, &mut again);
            let back = decode(tensor_type, &again);
            let small = weights.iter().all(|x| x.abs() < 60_000.0);
            assert!(
                !small || back.iter().all(|x| x.is_finite()),
                "{tensor_type}: {weights:?} came back as {back:?}"
            );
        }
    }
});

fn decode(tensor_type: TensorType, row: &[u8]) -> Vec<f32> {
    let mut out = vec![0.0; row.len() / tensor_type.block_bytes() * tensor_type.block_len()];
    dequantize_row(tensor_type, row, &mut out);
    out
}

/// Returns the bits of each number. All NaNs have the same bits.
fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() }).collect()
}
