//! 256-bit integer arithmetic (x86-64 since 2013). Against the integer rung: 32 products an
//! instruction.

#![allow(unsafe_code, reason = "loads from slices, and functions that ask for instructions")]

mod decode;
mod lanes;
mod panel;
mod prefill_blocks;
mod prefill_super;
mod q4_0;
mod q4_k;
mod q5_0;
mod q6_k;
mod q8_0;
mod quantize;

use tiny_llm_formats::gguf::TensorType;

pub(super) use self::quantize::quantize_row;
use super::Kernel;

/// This rung's kernel for a type and a number of rows of activations, if it has one.
pub(super) fn kernel(tensor_type: TensorType, rows: usize) -> Option<Kernel> {
    Some(match (tensor_type, rows) {
        (TensorType::Q8_0, 1..=3) => decode::q8_0,
        (TensorType::Q4_0, 1..=3) => q4_0::few,
        (TensorType::Q5_0, 1..=3) => decode::q5_0,
        (TensorType::Q4_K, 1..=3) => decode::q4_k,
        (TensorType::Q6_K, 1..=3) => decode::q6_k,
        (TensorType::Q8_0, _) => prefill_blocks::q8_0,
        (TensorType::Q4_0, _) => prefill_blocks::q4_0,
        (TensorType::Q5_0, _) => prefill_blocks::q5_0,
        (TensorType::Q4_K, _) => prefill_super::q4_k,
        (TensorType::Q6_K, _) => prefill_super::q6_k,
        _ => return None,
    })
}
