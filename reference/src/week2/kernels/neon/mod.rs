//! Day 6. 128-bit integer arithmetic (64-bit Arm). Two instructions compute 16 products.
//!
//! This module holds the dot products that you write. The loop over a row's blocks is provided. All
//! other kernels of this rung (this set of kernels) and of the higher rungs are provided too.

mod q4_k;
mod q8_0;

use std::arch::aarch64::*;

use tiny_llm_formats::gguf::TensorType;
use tiny_llm_kernels::{Kernel, MANY, neon::few};

use crate::week2::{input::Input, matrix::Matrix, parallel::Tile};

/// Returns this module's kernel for weights of type `tensor_type` and `rows` rows of activations.
/// Returns `None` if this module has no such kernel.
pub(crate) fn kernel(tensor_type: TensorType, rows: usize) -> Option<Kernel> {
    match tensor_type {
        TensorType::Q8_0 if rows < MANY => Some(q8_0),
        TensorType::Q4_K if rows < MANY => Some(q4_k),
        _ => None,
    }
}

#[target_feature(enable = "neon")]
fn q8_0(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    few::rows::<34, 8>(weight, x, tile, |blocks, x| q8_0::dot(blocks, x));
}

#[target_feature(enable = "neon")]
fn q4_k(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    few::rows::<144, 1>(weight, x, tile, |blocks, x| {
        vmulq_n_f32(q4_k::dot(&blocks[0], x), x.scales[0])
    });
}
