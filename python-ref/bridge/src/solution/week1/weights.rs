//! Day 5, last task.

use std::{path::PathBuf, sync::Arc};

use pyo3::{exceptions::PyValueError, prelude::*};
use tiny_llm_formats::checkpoint::{Dtype, StoredTensor};

use super::{model::Model, rust::weights as rust};
use crate::{
    convert::{Any, Floats},
    panics::{call, value_error},
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(to_f32, m)?)?;
    m.add_function(wrap_pyfunction!(load_model, m)?)
}

/// `dtype` is spelled as in a safetensors header: `F32`, `F16`, `BF16`.
#[pyfunction]
#[pyo3(signature = (bytes, dtype, shape, name="tensor"))]
fn to_f32(
    py: Python<'_>,
    bytes: &[u8],
    dtype: &str,
    shape: Vec<usize>,
    name: &str,
) -> PyResult<Any> {
    let dtype: Dtype = serde_json::from_value(dtype.into())
        .map_err(|error| PyValueError::new_err(format!("dtype: {error}")))?;
    let stored = StoredTensor { name, dtype, shape: &shape, bytes };
    call(py, || rust::to_f32(&stored))?.map(Floats).map_err(value_error)
}

#[pyfunction]
pub(crate) fn load_model(py: Python<'_>, folder: PathBuf) -> PyResult<Model> {
    let model = call(py, || rust::load_model(&folder))?.map_err(value_error)?;
    Ok(Model(Arc::new(model)))
}
