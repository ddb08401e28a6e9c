//! 512-bit kernels: they process 64 bytes of weights at a time. One instruction (VNNI's `vpdpbusd`)
//! multiplies 64 unsigned bytes by 64 signed bytes, and adds every four products to one of 16 sums
//! of 32 bits.
//!
//! With a few rows of activations (`blocks`, `super_blocks`), memory bandwidth is the limit: four
//! rows of weights are read side by side, each as its own stream. With many rows (`panel`),
//! arithmetic is the limit: 32 rows of weights are unpacked once, in the order that `vpdpbusd`
//! needs, and multiplied by all rows of activations. Repacked weights already have that order
//! (`side_by_side`, `two_streams`).
//!
//! Every quantized format has its own file, which unpacks the integers and scales of a block. All
//! other code is shared.

#![allow(unsafe_code, reason = "vector instructions load and store through pointers")]

mod blocks;
mod byte_scales;
mod bytes;
pub(crate) mod columns;
mod eights;
pub(crate) mod exp;
mod fill;
mod float;
mod four_bit_floats;
mod fours;
mod heads;
pub(crate) mod lanes;
mod many;
pub(crate) mod minimums;
pub(crate) mod mxfp4;
pub(crate) mod order;
mod panel;
mod product;
pub(crate) mod q2_k;
pub(crate) mod q3_k;
pub(crate) mod q4_0;
pub(crate) mod q4_1;
pub(crate) mod q4_k;
pub(crate) mod q5_0;
pub(crate) mod q5_1;
pub(crate) mod q5_k;
pub(crate) mod q6_k;
pub(crate) mod q8_0;
mod quantize;
mod ready;
mod side_by_side;
mod sixteen_rows;
mod sixteens;
pub(crate) mod sub_blocks;
mod sums;
pub(crate) mod super_blocks;
mod superproduct;
pub(crate) mod tiles;
mod turn;
mod two_streams;
pub(crate) mod values;
mod words;

use tiny_llm_formats::gguf::TensorType;

use crate::{Kernel, MANY};

pub(crate) use quantize::quantize_activations;

/// Returns the AVX-512 kernel for a type and a number of rows of activations.
pub(crate) fn kernel(tensor_type: TensorType, rows: usize) -> Kernel {
    let many = rows >= MANY;
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
    if many { pair.1 } else { pair.0 }
}

/// Returns the kernel for a type whose weights are in the layout of [`repack`](crate::repack), or
/// `None` if the type has no such kernel.
pub(crate) fn repacked(tensor_type: TensorType) -> Option<Kernel> {
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
