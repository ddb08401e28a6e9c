//! 256-bit integer arithmetic (x86-64 since 2013). Against the integer rung: 32 products an
//! instruction.

#![allow(unsafe_code, reason = "loads from slices, and functions that ask for instructions")]

pub mod few;
pub mod lanes;
mod panel;
mod prefill_blocks;
mod prefill_super;
mod q4_0;
pub mod q4_k;
mod q5_0;
mod q6_k;
mod q8_0;
mod quantize;

use tiny_llm_formats::gguf::TensorType;

pub(crate) use self::quantize::quantize_row;
use crate::{Kernel, MANY};

/// The kernel for a type and a number of rows of activations, if this crate has one.
pub(crate) fn kernel(tensor_type: TensorType, rows: usize) -> Option<Kernel> {
    let many = rows >= MANY;
    Some(match tensor_type {
        TensorType::Q8_0 if many => prefill_blocks::q8_0,
        TensorType::Q4_0 if many => prefill_blocks::q4_0,
        TensorType::Q5_0 if many => prefill_blocks::q5_0,
        TensorType::Q4_K if many => prefill_super::q4_k,
        TensorType::Q6_K if many => prefill_super::q6_k,
        TensorType::Q4_0 => q4_0::few,
        TensorType::Q5_0 => few::q5_0,
        TensorType::Q6_K => few::q6_k,
        _ => return None,
    })
}
