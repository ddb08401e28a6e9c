//! Day 5: activations as integers.

use pyo3::prelude::*;
use tiny_llm_formats::tensor::tensor;

use super::rust::input::{self as rust, BLOCK, GROUP, Int8Group, SUM};
use crate::{
    background::call,
    convert::{Count, Floats},
    shapes::{Shapes, every, wrong},
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(quantize_activations, m)?)
}

/// Groups in arrays.
pub(super) type Groups = (Floats, Floats, Floats);

/// Values `[groups, 256]`, sums `[groups, 16]` and scales `[groups, 8]`.
pub(super) fn arrays(groups: &[Int8Group]) -> Groups {
    let values = groups.iter().flat_map(|group| group.values.map(f32::from)).collect();
    let sums = groups.iter().flat_map(|group| group.sums.map(f32::from)).collect();
    let scales = groups.iter().flat_map(|group| group.scales).collect();
    let n = groups.len();
    (
        Floats(tensor(&[n, GROUP], values)),
        Floats(tensor(&[n, GROUP / SUM], sums)),
        Floats(tensor(&[n, GROUP / BLOCK], scales)),
    )
}

/// How many activations may share a scale.
///
/// # Errors
/// A `ValueError` that names `per_scale`.
pub(super) fn checked_per_scale(per_scale: Count) -> PyResult<usize> {
    if [BLOCK, GROUP].contains(&per_scale.0) {
        return Ok(per_scale.0);
    }
    Err(wrong("per_scale", &per_scale.0.to_string(), &format!("{BLOCK} or {GROUP}")))
}

/// Refuses activations of which integers could not say what they were.
///
/// # Errors
/// A `ValueError` that names `x`.
pub(super) fn finite(x: &Floats) -> PyResult<()> {
    every("x", &x.0, "finite numbers", f32::is_finite)
}

/// `x [cols]`, a scale for each `per_scale`, 32 or 256 → values `[groups, 256]`, sums
/// `[groups, 16]`, scales `[groups, 8]`
#[pyfunction]
fn quantize_activations(py: Python<'_>, x: Floats, per_scale: Count) -> PyResult<Groups> {
    let per_scale = checked_per_scale(per_scale)?;
    Shapes::default().fit("x", "cols", &x)?;
    finite(&x)?;
    call(py, move || {
        let x = x.to_vec();
        // The groups held other numbers before.
        let used = Int8Group {
            values: [99; GROUP],
            sums: [99 * SUM as i16; GROUP / SUM],
            scales: [99.0; GROUP / BLOCK],
        };
        let mut groups = vec![used; x.len().div_ceil(GROUP)];
        rust::quantize_activations(&x, per_scale, &mut groups);
        arrays(&groups)
    })
}
