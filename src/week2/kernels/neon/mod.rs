//! Provided. 128-bit integer arithmetic (64-bit Arm). Against the integer rung: 16 products an
//! instruction, or two.

#![allow(unsafe_code, reason = "an instruction that not every processor has")]

mod q4_k;
mod q8_0;

use tiny_llm_formats::gguf::TensorType;
use tiny_llm_kernels::{
    Kernel,
    neon::{lanes::Multiply, rows},
};

/// The kernel for a type, if it is written here.
pub(super) fn kernel<M: Multiply>(tensor_type: TensorType) -> Option<Kernel> {
    Some(match tensor_type {
        TensorType::Q8_0 => rows::<M, q8_0::Q8_0>,
        TensorType::Q4_K => rows::<M, q4_k::Q4K>,
        _ => return None,
    })
}
