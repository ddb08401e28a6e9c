//! 256-bit integer arithmetic (x86-64 since 2013). Against the integer rung: 32 products an
//! instruction.

#![allow(unsafe_code, reason = "loads from slices, and functions that ask for instructions")]

mod blocks;
pub mod few;
mod float;
pub mod lanes;
mod many;
mod panel;
mod product;
mod q2_k;
mod q3_k;
mod q4_0;
mod q4_1;
pub mod q4_k;
mod q5_0;
mod q5_1;
mod q5_k;
mod q6_k;
mod q8_0;
mod quantize;
mod superblocks;

use tiny_llm_formats::gguf::TensorType;

pub(crate) use self::quantize::quantize_activations;
use crate::{Kernel, MANY};

/// The kernel for a type and a number of rows of activations. For few rows of Q8_0 and of Q4_K
/// there is none: it is the course's to write.
pub(crate) fn kernel(tensor_type: TensorType, rows: usize) -> Option<Kernel> {
    let pair: (Option<Kernel>, Kernel) = match tensor_type {
        TensorType::F32 => (Some(float::f32), float::f32),
        TensorType::F16 => (Some(float::f16), float::f16),
        TensorType::BF16 => (Some(float::bf16), float::bf16),
        TensorType::Q4_0 => (Some(q4_0::few), q4_0::many),
        TensorType::Q4_1 => (Some(q4_1::few), q4_1::many),
        TensorType::Q5_0 => (Some(q5_0::few), q5_0::many),
        TensorType::Q5_1 => (Some(q5_1::few), q5_1::many),
        TensorType::Q8_0 => (None, q8_0::many),
        TensorType::Q2_K => (Some(q2_k::few), q2_k::many),
        TensorType::Q3_K => (Some(q3_k::few), q3_k::many),
        TensorType::Q4_K => (None, q4_k::many),
        TensorType::Q5_K => (Some(q5_k::few), q5_k::many),
        TensorType::Q6_K => (Some(q6_k::few), q6_k::many),
    };
    if rows >= MANY { Some(pair.1) } else { pair.0 }
}
