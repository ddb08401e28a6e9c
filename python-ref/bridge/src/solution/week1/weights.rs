//! Day 5, last task.

use std::path::PathBuf;

use tiny_llm_formats::checkpoint::{Dtype, StoredTensor};

use super::{model::Model, rust::weights as rust};
use crate::prelude::*;

exports! { fn to_f32, load_model; }

/// Decodes stored values to float32. `dtype` is a name as in safetensors: `F32`, `F16` or `BF16`.
#[pyfunction]
#[pyo3(signature = (bytes, dtype, shape, name="tensor"))]
fn to_f32(bytes: &[u8], dtype: &str, shape: Vec<Count>, name: &str) -> PyResult<Floats> {
    let shape: Vec<usize> = shape.iter().map(|n| n.0).collect();
    room("the result", &shape)?;
    let dtype: Dtype = serde_json::from_value(dtype.into())
        .map_err(|error| PyValueError::new_err(format!("dtype: {error}")))?;
    // In bits, because an element of some types is smaller than a byte.
    let bits = shape.iter().product::<usize>().checked_mul(dtype.bitsize());
    refuse_if!(bits != bytes.len().checked_mul(8); "bytes", format_args!("{} bytes", bytes.len());
        "as many as {dtype} of shape {shape:?} has");
    let (bytes, name) = (bytes.to_vec(), name.to_owned());
    let values = call(move || {
        rust::to_f32(&StoredTensor { name: &name, dtype, shape: &shape, bytes: &bytes })
    })?;
    values.map(Floats).map_err(value_error)
}

/// Loads a Hugging Face folder: `config.json` and one or more safetensors files.
#[pyfunction]
fn load_model(folder: PathBuf) -> PyResult<Model> {
    let folder = located(folder)?;
    let model = call(move || rust::load_model(&folder))?.map_err(value_error)?;
    Ok(Model(Arc::new(model)))
}
