//! Day 5. Several kernels, one submission.
//!
//! Tasks here: week4-day5 task 6 (`product`, `mlp`). Everything else is provided.

use anyhow::Result;
use tiny_llm_formats::gguf::TensorType;
use tiny_llm_gpu::{Buffer, Pass};

use super::{
    elementwise::{THREADS, dispatch_size},
    kernels::{Kernels, Which},
    mat_mat::TILE,
};

/// A matrix on the device, in the blocks of its file.
#[derive(Debug)]
pub struct DeviceMatrix {
    /// Q8_0 or Q4_0.
    pub tensor_type: TensorType,
    /// Rows, each of which gives one result.
    pub rows: usize,
    /// Elements of a row, a multiple of 32.
    pub k: usize,
    /// As they are in the file.
    pub bytes: Buffer,
}

/// The number of columns from which on [`mat_mat`](super::mat_mat::mat_mat) multiplies.
pub const MANY: usize = 5;

/// Records a product: `x [columns, k]` → `result [columns, rows]`. Fewer than [`MANY`] columns use
/// `mat_vec`, with a workgroup for each row and column. Otherwise it is `mat_mat`, with a workgroup
/// for each tile.
///
/// # Errors
/// As [`Kernels::get`] and [`Pass::run`].
pub fn product(
    pass: &mut Pass<'_>,
    kernels: &Kernels<'_>,
    weight: &DeviceMatrix,
    x: &Buffer,
    columns: usize,
    result: &Buffer,
) -> Result<()> {
    todo!("week4-day5 task 6: product")
}

/// The buffers of an MLP for `rows` rows: `x`, `out [rows, E]`, `normed [rows, E]`, `gate`, `up`
/// and `gated [rows, I]`, `down [rows, E]`.
#[derive(Debug)]
pub struct MlpBuffers {
    /// What comes in.
    pub x: Buffer,
    /// After the norm.
    pub normed: Buffer,
    /// The gate's product.
    pub gate: Buffer,
    /// What passes through it.
    pub up: Buffer,
    /// Both together.
    pub gated: Buffer,
    /// Back at `E`.
    pub down: Buffer,
    /// What goes out.
    pub out: Buffer,
}

/// The weights of an MLP and of its norm.
#[derive(Debug)]
pub struct DeviceMlp {
    /// `[E]`
    pub norm: Buffer,
    /// Added to the mean square.
    pub eps: f32,
    /// `[I, E]`
    pub gate: DeviceMatrix,
    /// `[I, E]`
    pub up: DeviceMatrix,
    /// `[E, I]`
    pub down: DeviceMatrix,
}

/// Records `out = x + down(silu(gate(n)) · up(n))` with `n = rms_norm(x)`, for `rows` rows. Neither
/// submits nor waits: the caller has begun the pass and ends it.
///
/// # Errors
/// As [`product`].
pub fn mlp(
    pass: &mut Pass<'_>,
    kernels: &Kernels<'_>,
    weights: &DeviceMlp,
    buffers: &MlpBuffers,
    rows: usize,
) -> Result<()> {
    todo!("week4-day5 task 6: mlp")
}
