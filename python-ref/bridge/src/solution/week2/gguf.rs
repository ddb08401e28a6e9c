//! Day 2: a GGUF file, as it is read.

use std::path::PathBuf;

use pyo3::{
    exceptions::{PyKeyError, PyValueError},
    prelude::*,
    types::{PyBytes, PyList},
};
use tiny_llm_formats::gguf::{Array, TensorInfo, Value};

use super::rust::gguf::{self as rust, table};
use crate::panics::{call, value_error};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Gguf>()?;
    m.add_function(wrap_pyfunction!(data_start, m)?)
}

#[pyclass(frozen)]
pub(crate) struct Gguf(rust::Gguf);

/// Name, shape, type, first byte, end.
type Placed = (String, Vec<usize>, String, usize, usize);

/// The name of a value's type, and the value.
type Typed<'py> = (&'static str, Bound<'py, PyAny>);

#[pymethods]
impl Gguf {
    /// Maps a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Ok(Self(call(py, || rust::Gguf::open(&path))?.map_err(value_error)?))
    }

    /// Of each key the name of its type, `U32` or `Array U32`, and its value.
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Typed<'py>)>> {
        self.0.metadata.iter().map(|(key, value)| Ok((key.to_owned(), typed(py, value)?))).collect()
    }

    /// Of each tensor its name, shape (slowest axis first), type as llama.cpp writes it, and its
    /// first byte and the one after its last, from the start of the file.
    fn tensors(&self, py: Python<'_>) -> PyResult<Vec<Placed>> {
        call(py, || {
            let entry = |tensor: &TensorInfo| {
                let place = table::place(tensor, self.0.data_start);
                (
                    tensor.name.clone(),
                    tensor.shape.clone(),
                    tensor.tensor_type.to_string(),
                    place.start,
                    place.end,
                )
            };
            self.0.tensors.iter().map(entry).collect()
        })
    }

    /// A tensor's bytes.
    fn bytes_of<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let tensor = self.0.tensor(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        let bytes = call(py, || self.0.bytes_of(tensor))?;
        Ok(PyBytes::new(py, &bytes))
    }
}

/// Where the data section begins, behind a table that ends at `position`.
#[pyfunction]
fn data_start(py: Python<'_>, position: usize, alignment: usize) -> PyResult<usize> {
    call(py, || table::data_start(position, alignment))?
        .ok_or_else(|| PyValueError::new_err("no number is large enough"))
}

fn typed<'py>(py: Python<'py>, value: &Value) -> PyResult<Typed<'py>> {
    let (name, object) = match value {
        Value::U8(x) => ("U8", x.into_pyobject(py)?.into_any()),
        Value::I8(x) => ("I8", x.into_pyobject(py)?.into_any()),
        Value::U16(x) => ("U16", x.into_pyobject(py)?.into_any()),
        Value::I16(x) => ("I16", x.into_pyobject(py)?.into_any()),
        Value::U32(x) => ("U32", x.into_pyobject(py)?.into_any()),
        Value::I32(x) => ("I32", x.into_pyobject(py)?.into_any()),
        Value::F32(x) => ("F32", x.into_pyobject(py)?.into_any()),
        Value::Bool(x) => ("Bool", x.into_pyobject(py)?.to_owned().into_any()),
        Value::String(x) => ("String", x.into_pyobject(py)?.into_any()),
        Value::U64(x) => ("U64", x.into_pyobject(py)?.into_any()),
        Value::I64(x) => ("I64", x.into_pyobject(py)?.into_any()),
        Value::F64(x) => ("F64", x.into_pyobject(py)?.into_any()),
        Value::Array(array) => return typed_array(py, array),
    };
    Ok((name, object))
}

fn typed_array<'py>(py: Python<'py>, array: &Array) -> PyResult<Typed<'py>> {
    let (name, list) = match array {
        Array::U8(x) => ("Array U8", PyList::new(py, x)?),
        Array::I8(x) => ("Array I8", PyList::new(py, x)?),
        Array::U16(x) => ("Array U16", PyList::new(py, x)?),
        Array::I16(x) => ("Array I16", PyList::new(py, x)?),
        Array::U32(x) => ("Array U32", PyList::new(py, x)?),
        Array::I32(x) => ("Array I32", PyList::new(py, x)?),
        Array::F32(x) => ("Array F32", PyList::new(py, x)?),
        Array::Bool(x) => ("Array Bool", PyList::new(py, x)?),
        Array::String(x) => ("Array String", PyList::new(py, x)?),
        Array::U64(x) => ("Array U64", PyList::new(py, x)?),
        Array::I64(x) => ("Array I64", PyList::new(py, x)?),
        Array::F64(x) => ("Array F64", PyList::new(py, x)?),
    };
    Ok((name, list.into_any()))
}
