//! Week 2, day 3, on fresh inputs.

use half::f16;
use tiny_llm::week2::blocks::{
    error::{relative_error, rms_error, round_trip_error},
    q4_0, q5_0, q8_0,
};
use tiny_llm_formats::{gguf::TensorType, tensor::tensor};
use tiny_llm_harness::{check::Tolerance, fresh::Fresh};
use tiny_llm_kernels::withheld::withhold;

/// Dequantizes and quantizes random blocks. A weight half-way between two integers may be rounded
/// either way, so the integers in the bytes are compared, with a tolerance of one.
fn block<const BYTES: usize>(
    fresh: &Fresh,
    dequantize: impl Fn(&[u8; BYTES], &mut [f32; 32]),
    quantize: impl Fn(&[f32; 32]) -> [u8; BYTES],
) {
    for _ in 0..3 {
        let mut bytes: [u8; BYTES] = fresh.bytes(BYTES).try_into().expect("as many bytes");
        bytes[..2].copy_from_slice(&f16::from_f32(fresh.f32()).to_le_bytes());
        let mut weights = [f32::NAN; 32];
        dequantize(&bytes, &mut weights);
        fresh.answers("weights", &weights, 0.0);
        let x: [f32; 32] = fresh.f32s(32).try_into().expect("32 numbers");
        fresh.says("block", &quantize(&x));
    }
    fresh.says("a block of zeros", &quantize(&[0.0; 32]));
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week2-day3 task 1");
    withhold();
    block(&fresh, q8_0::dequantize, q8_0::quantize);
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week2-day3 task 2");
    withhold();
    block(&fresh, q4_0::dequantize, q4_0::quantize);
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week2-day3 task 3");
    withhold();
    block(&fresh, q5_0::dequantize, q5_0::quantize);
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week2-day3 task 4");
    for _ in 0..3 {
        let (x, y) = (fresh.f32s(64), fresh.f32s(64));
        let found = [
            rms_error(&x, &y),
            relative_error(&x, &y),
            relative_error(&x, &x),
            round_trip_error(TensorType::Q4_1, &x),
        ];
        let found = tensor(&[4], found.map(|x| x as f32).to_vec());
        fresh.answer("errors", &found, Tolerance::Relative(1e-5));
    }
}
