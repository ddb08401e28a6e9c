//! Day 5, last task.

use std::{path::PathBuf, sync::Arc};

use pyo3::{exceptions::PyValueError, prelude::*};
use tiny_llm_formats::checkpoint::{Dtype, StoredTensor};

use super::{model::Model, rust::weights as rust};
use crate::{
    background::call,
    convert::{Count, Floats},
    memory::room,
    panics::value_error,
    shapes::wrong,
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(to_f32, m)?)?;
    m.add_function(wrap_pyfunction!(load_model, m)?)
}

/// Stored values as float32. `dtype` is spelled as in a safetensors header: `F32`, `F16`, `BF16`.
#[pyfunction]
#[pyo3(signature = (bytes, dtype, shape, name="tensor"))]
fn to_f32(
    py: Python<'_>,
    bytes: &[u8],
    dtype: &str,
    shape: Vec<Count>,
    name: &str,
) -> PyResult<Floats> {
    let shape: Vec<usize> = shape.iter().map(|n| n.0).collect();
    room("the result", &shape)?;
    let dtype: Dtype = serde_json::from_value(dtype.into())
        .map_err(|error| PyValueError::new_err(format!("dtype: {error}")))?;
    // In bits: some types have fewer than a byte has.
    let bits = shape.iter().product::<usize>().checked_mul(dtype.bitsize());
    if bits != bytes.len().checked_mul(8) {
        let expected = format!("as many as {dtype} of shape {shape:?} has");
        return Err(wrong("bytes", &format!("{} bytes", bytes.len()), &expected));
    }
    let (bytes, name) = (bytes.to_vec(), name.to_owned());
    let values = call(py, move || {
        rust::to_f32(&StoredTensor { name: &name, dtype, shape: &shape, bytes: &bytes })
    })?;
    values.map(Floats).map_err(value_error)
}

/// Loads a Hugging Face folder: `config.json` and one or more safetensors files.
#[pyfunction]
fn load_model(py: Python<'_>, folder: PathBuf) -> PyResult<Model> {
    let model = call(py, move || rust::load_model(&folder))?.map_err(value_error)?;
    Ok(Model(Arc::new(model)))
}
