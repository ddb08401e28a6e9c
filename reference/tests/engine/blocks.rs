//! Compares the decoding of every format with the `gguf` package, bit for bit, on bytes that no
//! quantizer would write, and at any address.

use tiny_llm_formats::gguf::TensorType;
use tiny_llm_harness::fixtures::Fixtures;
use tiny_llm_reference::week2::blocks::dequantize_row;

#[test]
fn every_format_is_decoded_bit_for_bit_at_any_address() {
    let fixtures = Fixtures::open("week2_day3_formats");
    let other = Fixtures::open("week4_day6");
    let cases = TensorType::ALL.map(|one| (one, fixtures.case(&format!("formats/{one}"))));
    let mxfp4 = (TensorType::MXFP4, other.case("mxfp4/blocks"));
    for (tensor_type, case) in cases.into_iter().chain([mxfp4]) {
        let expected = case.tensor("weights");
        let row: Vec<u8> = case.integers("blocks").iter().map(|&byte| byte as u8).collect();
        assert_eq!(tensor_type.row_bytes(expected.len()), Some(row.len()), "{tensor_type}");
        for offset in 0..8 {
            let shifted = [&vec![0; offset], row.as_slice()].concat();
            let mut out = vec![0.0; expected.len()];
            dequantize_row(tensor_type, &shifted[offset..], &mut out);
            for (i, (found, &expected)) in out.iter().zip(&expected).enumerate() {
                // Any NaN matches any other.
                let same =
                    found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
                assert!(
                    same,
                    "weight {i} of a row in {tensor_type} at byte {offset}: found {found:e}, \
                     expected {expected:e}"
                );
            }
        }
    }
}

#[test]
#[should_panic(expected = "bytes of a row of 64 weights in Q8_0")]
fn dequantize_row_panics_on_a_short_row() {
    dequantize_row(TensorType::Q8_0, &[0; 34], &mut [0.0; 64]);
}
