//! Day 5. Records several kernels, to be run in one submission.
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

/// A matrix on the device, in the same blocks as in its file.
#[derive(Debug)]
pub struct DeviceMatrix {
    /// The type of the weights: F32, F16, BF16, Q8_0 or Q4_0.
    pub tensor_type: TensorType,
    /// Number of rows. Each row produces one element of the result.
    pub rows: usize,
    /// Number of elements in a row, a multiple of 32.
    pub k: usize,
    /// The blocks, as stored in the file.
    pub bytes: Buffer,
}

/// Minimum number of columns for which [`product`] uses [`mat_mat`](super::mat_mat::mat_mat).
pub const MANY: usize = 5;

/// Records a product: `x [columns, k]` → `result [columns, rows]`. Uses `mat_vec` for fewer than
/// [`MANY`] columns, with a workgroup for each element of the result. Otherwise uses `mat_mat`,
/// with a workgroup for each tile.
///
/// # Errors
/// The same as for [`Kernels::get`] and [`Pass::run`].
pub fn product(
    pass: &mut Pass<'_>,
    kernels: &Kernels<'_>,
    weight: &DeviceMatrix,
    x: &Buffer,
    columns: usize,
    result: &Buffer,
) -> Result<()> {
    // SOLUTION week4-day5 task 6
    let sizes = [weight.k as u32, weight.rows as u32, columns as u32];
    let (which, groups) = if columns < MANY {
        let [across, down, _] = dispatch_size(weight.rows, 1)?;
        (Which::MatVec(weight.tensor_type), [across, down, columns as u32])
    } else {
        let tiles = |n: usize| n.div_ceil(TILE as usize) as u32;
        (Which::MatMat(weight.tensor_type), [tiles(weight.rows), tiles(columns), 1])
    };
    let kernel = kernels.get(which)?;
    pass.run(&kernel, &sizes, &[&weight.bytes, x], result, groups)
    // END SOLUTION
}

/// The buffers of an MLP for `rows` rows.
#[derive(Debug)]
pub struct MlpBuffers {
    /// Input, `[rows, E]`.
    pub x: Buffer,
    /// Normed input, `[rows, E]`.
    pub normed: Buffer,
    /// Output of the gate projection, `[rows, I]`.
    pub gate: Buffer,
    /// Output of the up projection, `[rows, I]`.
    pub up: Buffer,
    /// `silu(gate) · up`, `[rows, I]`.
    pub gated: Buffer,
    /// Output of the down projection, `[rows, E]`.
    pub down: Buffer,
    /// Result `x + down`, `[rows, E]`.
    pub out: Buffer,
}

/// The weights of an MLP and of its norm.
#[derive(Debug)]
pub struct DeviceMlp {
    /// Weight of the norm, `[E]`.
    pub norm: Buffer,
    /// Constant that the norm adds to the mean square.
    pub eps: f32,
    /// Gate projection, `[I, E]`.
    pub gate: DeviceMatrix,
    /// Up projection, `[I, E]`.
    pub up: DeviceMatrix,
    /// Down projection, `[E, I]`.
    pub down: DeviceMatrix,
}

/// Records `out = x + down(silu(gate(n)) · up(n))` with `n = rms_norm(x)`, for `rows` rows. Doesn't
/// submit or wait: the caller begins and ends the pass.
///
/// # Errors
/// The same as for [`product`].
pub fn mlp(
    pass: &mut Pass<'_>,
    kernels: &Kernels<'_>,
    weights: &DeviceMlp,
    buffers: &MlpBuffers,
    rows: usize,
) -> Result<()> {
    // SOLUTION week4-day5 task 6
    let (e, i) = (weights.gate.k, weights.gate.rows);
    let b = buffers;
    let norm = kernels.get(Which::RmsNorm)?;
    let sizes = [e as u32, rows as u32, weights.eps.to_bits()];
    pass.run(&norm, &sizes, &[&b.x, &weights.norm], &b.normed, dispatch_size(rows, 1)?)?;
    product(pass, kernels, &weights.gate, &b.normed, rows, &b.gate)?;
    product(pass, kernels, &weights.up, &b.normed, rows, &b.up)?;
    let silu_gate = kernels.get(Which::SiluGate)?;
    let groups = dispatch_size(rows * i, THREADS)?;
    pass.run(&silu_gate, &[(rows * i) as u32], &[&b.gate, &b.up], &b.gated, groups)?;
    product(pass, kernels, &weights.down, &b.gated, rows, &b.down)?;
    let add = kernels.get(Which::Add)?;
    let groups = dispatch_size(rows * e, THREADS)?;
    pass.run(&add, &[(rows * e) as u32], &[&b.x, &b.down], &b.out, groups)
    // END SOLUTION
}
