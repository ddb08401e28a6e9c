//! 128-bit integer arithmetic (64-bit Arm). Against the integer rung: 16 products an instruction,
//! or two.

#![allow(
    unsafe_code,
    reason = "loads through pointers, and an instruction that not every processor has"
)]
#![allow(
    unused_unsafe,
    reason = "intrinsics without pointers have been safe since Rust 1.87; the compiler that builds this for Arm may be older"
)]

mod lanes;
mod q4_0;
mod q4_k;
mod q5_0;
mod q6_k;
mod q8_0;

use tiny_llm_formats::gguf::TensorType;

use self::lanes::{DotProduct, Multiply, Widening};
use super::Kernel;
use crate::week2::{
    input::{Input, Int8Group},
    matrix::Matrix,
    parallel::Tile,
};

/// This rung's kernel for a type, if it has one, without the instruction for dot products of bytes.
pub(super) fn kernel(tensor_type: TensorType) -> Option<Kernel> {
    of::<Widening>(tensor_type)
}

/// As [`kernel`], with it.
pub(super) fn kernel_with_dot_product(tensor_type: TensorType) -> Option<Kernel> {
    of::<DotProduct>(tensor_type)
}

fn of<M: Multiply>(tensor_type: TensorType) -> Option<Kernel> {
    Some(match tensor_type {
        TensorType::Q8_0 => rows::<M, q8_0::Q8_0>,
        TensorType::Q4_0 => rows::<M, q4_0::Q4_0>,
        TensorType::Q5_0 => rows::<M, q5_0::Q5_0>,
        TensorType::Q4_K => rows::<M, q4_k::Q4K>,
        TensorType::Q6_K => rows::<M, q6_k::Q6K>,
        _ => return None,
    })
}

/// A format.
trait Format {
    /// The product of a row of blocks with as many values.
    ///
    /// # Safety
    /// The machine has the instructions of `M`.
    unsafe fn dot<M: Multiply>(row: &[u8], x: &[Int8Group]) -> f32;
}

/// See [`Kernel`].
///
/// # Safety
/// The machine has the instructions of `M`.
unsafe fn rows<M: Multiply, F: Format>(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    for (i, r) in tile.cols.clone().enumerate() {
        for t in tile.rows.clone() {
            // SAFETY: as for this function.
            tile.row_mut(t)[i] = unsafe { F::dot::<M>(weight.row(r), x.int8_row(t)) };
        }
    }
}
