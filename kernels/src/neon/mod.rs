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

pub mod lanes;
mod q4_0;
mod q5_0;
mod q6_k;

use tiny_llm_formats::gguf::TensorType;

use self::lanes::Multiply;
use crate::{
    Kernel,
    input::{Input, Int8Group},
    matrix::Matrix,
    parallel::Tile,
};

/// The kernel for a type, if this crate has one.
pub(crate) fn kernel<M: Multiply>(tensor_type: TensorType) -> Option<Kernel> {
    Some(match tensor_type {
        TensorType::Q4_0 => rows::<M, q4_0::Q4_0>,
        TensorType::Q5_0 => rows::<M, q5_0::Q5_0>,
        TensorType::Q6_K => rows::<M, q6_k::Q6K>,
        _ => return None,
    })
}

/// A format.
pub trait Format {
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
pub unsafe fn rows<M: Multiply, F: Format>(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    for (i, r) in tile.cols().enumerate() {
        for t in tile.rows() {
            // SAFETY: as for this function.
            tile.row_mut(t)[i] = unsafe { F::dot::<M>(weight.row(r), x.int8_row(t)) };
        }
    }
}
