//! Days 3 and 4: rows of blocks, and the errors, which in Rust stand in `blocks::error`.

use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use tiny_llm_formats::{gguf::TensorType, tensor::tensor};

use super::rust::blocks as rust;
use crate::{
    convert::{Any, Vector, compute},
    panics::call,
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(dequantize_row, m)?)?;
    m.add_function(wrap_pyfunction!(quantize_row, m)?)?;
    m.add_function(wrap_pyfunction!(rms_error, m)?)?;
    m.add_function(wrap_pyfunction!(relative_error, m)?)?;
    m.add_function(wrap_pyfunction!(round_trip_error, m)?)
}

/// `tensor_type` as llama.cpp writes it: `Q4_0`.
fn named(tensor_type: &str) -> PyResult<TensorType> {
    tensor_type.parse().map_err(PyValueError::new_err)
}

#[pyfunction]
fn dequantize_row(py: Python<'_>, tensor_type: &str, bytes: &[u8]) -> PyResult<Any> {
    let tensor_type = named(tensor_type)?;
    let cols = bytes.len() / tensor_type.block_bytes() * tensor_type.block_len();
    compute(py, || {
        let mut out = vec![f32::NAN; cols];
        rust::dequantize_row(tensor_type, bytes, &mut out);
        tensor(&[cols], out)
    })
}

#[pyfunction]
fn quantize_row<'py>(
    py: Python<'py>,
    tensor_type: &str,
    x: Vector,
) -> PyResult<Bound<'py, PyBytes>> {
    let tensor_type = named(tensor_type)?;
    let bytes = call(py, || {
        let mut out = vec![0; x.0.len() / tensor_type.block_len() * tensor_type.block_bytes()];
        rust::quantize_row(tensor_type, &x.to_vec(), &mut out);
        out
    })?;
    Ok(PyBytes::new(py, &bytes))
}

#[pyfunction]
fn rms_error(py: Python<'_>, x: Vector, y: Vector) -> PyResult<f64> {
    call(py, || rust::error::rms_error(&x.to_vec(), &y.to_vec()))
}

#[pyfunction]
fn relative_error(py: Python<'_>, x: Vector, y: Vector) -> PyResult<f64> {
    call(py, || rust::error::relative_error(&x.to_vec(), &y.to_vec()))
}

#[pyfunction]
fn round_trip_error(py: Python<'_>, tensor_type: &str, x: Vector) -> PyResult<f64> {
    let tensor_type = named(tensor_type)?;
    call(py, || rust::error::round_trip_error(tensor_type, &x.to_vec()))
}
