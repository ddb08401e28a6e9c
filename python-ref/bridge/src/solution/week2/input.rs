//! Day 5: activations as integers.

use pyo3::prelude::*;
use tiny_llm_kit::tensor::tensor;

use super::rust::input::{self as rust, GROUP, Int8Group, SUM};
use crate::{
    convert::{Any, Floats, Vector},
    panics::call,
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(quantize_row, m)?)
}

/// Groups in arrays.
pub(super) type Groups = (Any, Any, Any);

/// Values `[groups, 256]`, sums `[groups, 16]` and scales `[groups]`.
pub(super) fn arrays(groups: &[Int8Group]) -> Groups {
    let values = groups.iter().flat_map(|group| group.values.map(f32::from)).collect();
    let sums = groups.iter().flat_map(|group| group.sums.map(f32::from)).collect();
    let scales = groups.iter().map(|group| group.scale).collect();
    let n = groups.len();
    (Floats(tensor(&[n, GROUP], values)), Floats(tensor(&[n, GROUP / SUM], sums)), Floats(tensor(&[n], scales)))
}

/// `x [cols]`. The groups held other numbers before.
#[pyfunction]
fn quantize_row(py: Python<'_>, x: Vector) -> PyResult<Groups> {
    let x = x.to_vec();
    let used = Int8Group { values: [99; GROUP], sums: [99 * SUM as i16; GROUP / SUM], scale: 99.0 };
    let mut groups = vec![used; x.len().div_ceil(GROUP)];
    call(py, || rust::quantize_row(&x, &mut groups))?;
    Ok(arrays(&groups))
}
