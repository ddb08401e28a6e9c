//! Day 5: activations as integers.

use super::rust::input::{self as rust, BLOCK, Int8SuperBlock, SUM, SUPER_BLOCK};
use crate::prelude::*;

exports! { fn quantize_activations; }

/// Super-blocks as arrays: values, sums, scales.
pub(super) type SuperBlocks = (Floats, Floats, Floats);

/// Returns values `[super_blocks, 256]`, sums `[super_blocks, 16]`, scales `[super_blocks, 8]`.
pub(super) fn arrays(super_blocks: &[Int8SuperBlock]) -> SuperBlocks {
    let values =
        super_blocks.iter().flat_map(|super_block| super_block.values.map(f32::from)).collect();
    let sums =
        super_blocks.iter().flat_map(|super_block| super_block.sums.map(f32::from)).collect();
    let scales = super_blocks.iter().flat_map(|super_block| super_block.scales).collect();
    let n = super_blocks.len();
    (
        Floats(tensor(&[n, SUPER_BLOCK], values)),
        Floats(tensor(&[n, SUPER_BLOCK / SUM], sums)),
        Floats(tensor(&[n, SUPER_BLOCK / BLOCK], scales)),
    )
}

/// Checks that `per_scale`, the number of activations that share a scale, is 32 or 256.
pub(super) fn checked_per_scale(per_scale: Count) -> PyResult<usize> {
    refuse_if!(![BLOCK, SUPER_BLOCK].contains(&per_scale.0); "per_scale", per_scale.0;
        "{BLOCK} or {SUPER_BLOCK}");
    Ok(per_scale.0)
}

/// Rejects activations that are not finite, because integers can't represent them.
pub(super) fn finite(x: &Floats) -> PyResult<()> {
    every("x", &x.0, "finite numbers", f32::is_finite)
}

/// Quantizes `x [cols]`, with one scale for every `per_scale` (32 or 256) activations. Returns
/// values `[super_blocks, 256]`, sums `[super_blocks, 16]` and scales `[super_blocks, 8]`.
#[pyfunction]
fn quantize_activations(x: Floats, per_scale: Count) -> PyResult<SuperBlocks> {
    let per_scale = checked_per_scale(per_scale)?;
    fit!(x = "cols");
    finite(&x)?;
    call(move || {
        let x = x.to_vec();
        // The super-blocks begin with other numbers, all of which must be overwritten.
        let used = Int8SuperBlock {
            values: [99; SUPER_BLOCK],
            sums: [99 * SUM as i16; SUPER_BLOCK / SUM],
            scales: [99.0; SUPER_BLOCK / BLOCK],
        };
        let mut super_blocks = vec![used; x.len().div_ceil(SUPER_BLOCK)];
        rust::quantize_activations(&x, per_scale, &mut super_blocks);
        arrays(&super_blocks)
    })
}
