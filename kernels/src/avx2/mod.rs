//! 256-bit integer arithmetic (x86-64 since 2013). One instruction computes 32 products.

#![allow(unsafe_code, reason = "loads from slices, and functions that ask for instructions")]

mod blocks;
mod columns;
mod eights;
pub mod few;
pub(crate) mod float;
pub mod lanes;
mod many;
mod mxfp4;
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
pub(crate) mod q8_rows;
mod quantize;
mod super_blocks;

use tiny_llm_formats::gguf::TensorType;

pub(crate) use self::quantize::quantize_activations;
use crate::{Kernel, input::SUPER_BLOCK};

/// Minimum number of rows of activations for which the kernels `many` are faster than the kernels
/// `few`. The kernels `many` unpack several rows of weights side by side.
const MANY: usize = 3;

/// Returns the AVX2 kernel for a type and a number of rows of activations.
pub(crate) fn kernel(tensor_type: TensorType, rows: usize) -> Kernel {
    let pair: (Kernel, Kernel) = match tensor_type {
        TensorType::F32 => (float::f32, float::f32),
        TensorType::F16 => (float::f16, float::f16),
        TensorType::BF16 => (float::bf16, float::bf16),
        TensorType::Q4_0 => (q4_0::few, q4_0::many),
        TensorType::Q4_1 => (q4_1::few, q4_1::many),
        TensorType::Q5_0 => (q5_0::few, q5_0::many),
        TensorType::Q5_1 => (q5_1::few, q5_1::many),
        TensorType::Q8_0 => (q8_0::few, q8_0::many),
        TensorType::Q2_K => (q2_k::few, q2_k::many),
        TensorType::Q3_K => (q3_k::few, q3_k::many),
        TensorType::Q4_K => (q4_k::few, q4_k::many),
        TensorType::Q5_K => (q5_k::few, q5_k::many),
        TensorType::Q6_K => (q6_k::few, q6_k::many),
        TensorType::MXFP4 => (mxfp4::few, mxfp4::many),
    };
    if rows >= MANY { pair.1 } else { pair.0 }
}

/// Minimum number of rows of activations for which panels multiply blocks of 256 weights faster
/// than the kernels for repacked weights.
const PROMPT: usize = 64;

/// Returns the kernel for a type whose weights are in the layout of [`repack`](crate::repack), or
/// `None` if the kernel for the file's layout is faster.
pub(crate) fn repacked(tensor_type: TensorType, rows: usize) -> Option<Kernel> {
    if tensor_type.block_len() == SUPER_BLOCK && rows >= PROMPT {
        return None;
    }
    Some(match tensor_type {
        TensorType::Q4_0 => q4_0::repacked,
        TensorType::Q4_1 => q4_1::repacked,
        TensorType::Q5_0 => q5_0::repacked,
        TensorType::Q8_0 => q8_0::repacked,
        TensorType::Q4_K => q4_k::repacked,
        TensorType::Q5_K => q5_k::repacked,
        TensorType::Q6_K => q6_k::repacked,
        _ => return None,
    })
}
