//! Day 2.

use pyo3::prelude::*;

use super::rust::rope as rust;
use crate::{
    convert::{Any, Floats, Heads, Ids, Matrices, Matrix, Vector, compute, vector},
    panics::call,
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(inverse_frequencies, m)?)?;
    m.add_class::<RopeTables>()?;
    m.add_function(wrap_pyfunction!(rope_interleaved, m)?)?;
    m.add_function(wrap_pyfunction!(rope_half_split, m)?)?;
    m.add_class::<RopeForm>()?;
    m.add_function(wrap_pyfunction!(rope_at_positions, m)?)?;
    m.add_function(wrap_pyfunction!(half_split_to_interleaved, m)?)
}

#[pyfunction]
fn inverse_frequencies(py: Python<'_>, head_dim: usize, base: f32) -> PyResult<Vector> {
    call(py, || rust::inverse_frequencies(head_dim, base)).map(|frequencies| vector(&frequencies))
}

#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct RopeTables(pub rust::RopeTables);

#[pymethods]
impl RopeTables {
    #[new]
    fn new(py: Python<'_>, inverse_frequencies: Vector, n_positions: usize) -> PyResult<Self> {
        call(py, || rust::RopeTables::new(&inverse_frequencies.to_vec(), n_positions)).map(Self)
    }

    /// Tables from their two fields, without the solution's constructor.
    #[staticmethod]
    fn from_arrays(cos: Matrix, sin: Matrix) -> Self {
        Self(rust::RopeTables { cos: cos.0, sin: sin.0 })
    }

    #[getter]
    fn cos(&self) -> Any {
        Floats(self.0.cos.clone())
    }

    #[getter]
    fn sin(&self) -> Any {
        Floats(self.0.sin.clone())
    }
}

#[pyfunction]
#[pyo3(signature = (x, tables, offset=0))]
fn rope_interleaved(
    py: Python<'_>,
    x: Matrices,
    tables: RopeTables,
    offset: usize,
) -> PyResult<Any> {
    compute(py, || rust::rope_interleaved(&x.0, &tables.0, offset))
}

#[pyfunction]
#[pyo3(signature = (x, tables, offset=0))]
fn rope_half_split(
    py: Python<'_>,
    x: Matrices,
    tables: RopeTables,
    offset: usize,
) -> PyResult<Any> {
    compute(py, || rust::rope_half_split(&x.0, &tables.0, offset))
}

#[pyclass(frozen, eq, eq_int, from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) enum RopeForm {
    Interleaved,
    HalfSplit,
}

#[pyfunction]
fn rope_at_positions(
    py: Python<'_>,
    x: Heads,
    tables: RopeTables,
    positions: Ids<2, 2>,
    form: RopeForm,
) -> PyResult<Any> {
    let form = match form {
        RopeForm::Interleaved => rust::RopeForm::Interleaved,
        RopeForm::HalfSplit => rust::RopeForm::HalfSplit,
    };
    let positions = positions.into_rows().mapv(|p| p as usize);
    compute(py, || rust::rope_at_positions(&x.0, &tables.0, &positions, form))
}

#[pyfunction]
fn half_split_to_interleaved(py: Python<'_>, weight: Matrix, n_heads: usize) -> PyResult<Any> {
    compute(py, || rust::half_split_to_interleaved(&weight.0, n_heads))
}
