//! Day 5: activations as integers.

use pyo3::prelude::*;
use tiny_llm_formats::tensor::tensor;

use super::rust::input::{self as rust, BLOCK, GROUP, Int8Group, SUM};
use crate::{
    convert::{Any, Floats, Vector},
    panics::call,
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(quantize_row, m)?)
}

/// Groups in arrays.
pub(super) type Groups = (Any, Any, Any);

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

/// `x [cols]`, with a scale for each `width`. The groups held other numbers before.
#[pyfunction]
fn quantize_row(py: Python<'_>, x: Vector, width: usize) -> PyResult<Groups> {
    let x = x.to_vec();
    let used = Int8Group {
        values: [99; GROUP],
        sums: [99 * SUM as i16; GROUP / SUM],
        scales: [99.0; GROUP / BLOCK],
    };
    let mut groups = vec![used; x.len().div_ceil(GROUP)];
    call(py, || rust::quantize_row(&x, width, &mut groups))?;
    Ok(arrays(&groups))
}
