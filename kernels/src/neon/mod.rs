//! 128-bit integer arithmetic (64-bit Arm). On every such processor, three instructions compute 16
//! products. If the processor has dot products (`sdot`), one instruction computes 16 products. If
//! it multiplies matrices (`smmla`), one instruction computes 32.
//!
//! Each kernel is written once and generic over [`lanes::Multiply`].

#![allow(
    unsafe_code,
    reason = "loads through pointers, and instructions that not every processor has"
)]

mod blocks;
pub mod few;
mod float;
pub mod lanes;
mod matrices;
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
mod quantize;
mod super_blocks;

use tiny_llm_formats::gguf::TensorType;

pub(crate) use self::quantize::quantize_activations;
use self::{
    lanes::{DotProduct, Multiply, Widening},
    matrices::Matrices,
    mxfp4::Mxfp4,
    panel::{OfBlocks, OfSuperBlocks, Unit, many},
    product::Vectors,
    q2_k::Q2K,
    q3_k::Q3K,
    q4_0::Q4_0,
    q4_1::Q4_1,
    q4_k::Q4K,
    q5_0::Q5_0,
    q5_1::Q5_1,
    q5_k::Q5K,
    q6_k::Q6K,
    q8_0::Q8_0,
};
use crate::{Kernel, MANY, rung::Rung};

/// Returns the kernel of `rung` for a type and a number of rows of activations, or `None` if `rung`
/// is not a NEON rung.
pub(crate) fn kernel(rung: Rung, tensor_type: TensorType, rows: usize) -> Option<Kernel> {
    let many = rows >= MANY;
    match rung {
        Rung::Neon if many => Some(for_many::<Vectors<Widening>>(tensor_type)),
        Rung::Neon => Some(for_few::<Widening>(tensor_type)),
        Rung::NeonDot if many => Some(for_many::<Vectors<DotProduct>>(tensor_type)),
        Rung::NeonDot => Some(for_few::<DotProduct>(tensor_type)),
        Rung::NeonI8mm if many => Some(for_many::<Matrices>(tensor_type)),
        _ => None,
    }
}

fn for_few<M: Multiply>(tensor_type: TensorType) -> Kernel {
    match tensor_type {
        TensorType::F32 => float::f32,
        TensorType::F16 => float::f16,
        TensorType::BF16 => float::bf16,
        TensorType::Q4_0 => blocks::few::<M, Q4_0>,
        TensorType::Q4_1 => blocks::few::<M, Q4_1>,
        TensorType::Q5_0 => blocks::few::<M, Q5_0>,
        TensorType::Q5_1 => blocks::few::<M, Q5_1>,
        TensorType::Q8_0 => blocks::few::<M, Q8_0>,
        TensorType::Q2_K => super_blocks::few::<M, Q2K, 1>,
        TensorType::Q3_K => super_blocks::few::<M, Q3K, 1>,
        TensorType::Q4_K => super_blocks::few::<M, Q4K, 2>,
        TensorType::Q5_K => super_blocks::few::<M, Q5K, 2>,
        TensorType::Q6_K => super_blocks::few::<M, Q6K, 1>,
        TensorType::MXFP4 => blocks::few::<M, Mxfp4>,
    }
}

fn for_many<U: Unit>(tensor_type: TensorType) -> Kernel {
    match tensor_type {
        TensorType::F32 => float::f32,
        TensorType::F16 => float::f16,
        TensorType::BF16 => float::bf16,
        TensorType::Q4_0 => many::<U, OfBlocks<Q4_0>>,
        TensorType::Q4_1 => many::<U, OfBlocks<Q4_1>>,
        TensorType::Q5_0 => many::<U, OfBlocks<Q5_0>>,
        TensorType::Q5_1 => many::<U, OfBlocks<Q5_1>>,
        TensorType::Q8_0 => many::<U, OfBlocks<Q8_0>>,
        TensorType::Q2_K => many::<U, OfSuperBlocks<Q2K>>,
        TensorType::Q3_K => many::<U, OfSuperBlocks<Q3K>>,
        TensorType::Q4_K => many::<U, OfSuperBlocks<Q4K>>,
        TensorType::Q5_K => many::<U, OfSuperBlocks<Q5K>>,
        TensorType::Q6_K => many::<U, OfSuperBlocks<Q6K>>,
        TensorType::MXFP4 => many::<U, OfBlocks<Mxfp4>>,
    }
}
