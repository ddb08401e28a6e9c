//! Day 2: a GGUF file, as it is read.

use std::{path::PathBuf, sync::Arc};

use pyo3::{
    exceptions::PyKeyError,
    prelude::*,
    types::{PyBytes, PyList},
};
use tiny_llm_formats::gguf::{Array, TensorInfo, Value};

use super::rust::gguf::{self as rust, table};
use crate::{
    background::call, convert::Count, memory::room_for, panics::value_error, shapes::wrong,
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Gguf>()?;
    m.add_function(wrap_pyfunction!(data_start, m)?)
}

/// A GGUF file, as it is read.
#[pyclass(frozen)]
pub(crate) struct Gguf(Arc<rust::Gguf>);

/// Name, shape, type, first byte, end.
type Placed = (String, Vec<usize>, String, usize, usize);

/// The name of a value's type, and the value.
type Typed<'py> = (&'static str, Bound<'py, PyAny>);

#[pymethods]
impl Gguf {
    /// Maps a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let gguf = call(py, move || rust::Gguf::open(&path))?;
        Ok(Self(Arc::new(gguf.map_err(value_error)?)))
    }

    /// Of each key the name of its type, `U32` or `Array U32`, and its value.
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Typed<'py>)>> {
        self.0.metadata.iter().map(|(key, value)| Ok((key.to_owned(), typed(py, value)?))).collect()
    }

    /// Of each tensor its name, shape (slowest axis first), type, and its first byte and the one
    /// after its last, from the start of the file.
    fn tensors(&self, py: Python<'_>) -> PyResult<Vec<Placed>> {
        let gguf = Arc::clone(&self.0);
        call(py, move || {
            let entry = |tensor: &TensorInfo| {
                let place = table::place(tensor, gguf.data_start);
                (
                    tensor.name.clone(),
                    tensor.shape.clone(),
                    tensor.tensor_type.to_string(),
                    place.start,
                    place.end,
                )
            };
            gguf.tensors.iter().map(entry).collect()
        })
    }

    /// A tensor's bytes.
    fn bytes_of<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let tensor = self.0.tensor(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        room_for("the bytes", &[tensor.size], 1)?;
        let (gguf, tensor) = (Arc::clone(&self.0), tensor.clone());
        let bytes = call(py, move || gguf.bytes_of(&tensor))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __repr__(&self) -> String {
        format!("Gguf({:?}, tensors={})", self.0.metadata.file(), self.0.tensors.len())
    }
}

/// The most that a written file's tensors are moved apart.
const MAX_ALIGNMENT: usize = 1 << 20;

/// An alignment that a file can be written with.
///
/// # Errors
/// A `ValueError` that names `alignment`.
pub(super) fn checked_alignment(alignment: Count) -> PyResult<usize> {
    let alignment = power_of_two(alignment)?;
    if alignment <= MAX_ALIGNMENT {
        return Ok(alignment);
    }
    Err(wrong("alignment", &alignment.to_string(), &format!("at most {MAX_ALIGNMENT}")))
}

fn power_of_two(alignment: Count) -> PyResult<usize> {
    if alignment.0.is_power_of_two() {
        return Ok(alignment.0);
    }
    Err(wrong("alignment", &alignment.0.to_string(), "a power of two"))
}

/// Where the data section begins, behind a table that ends at `position`.
#[pyfunction]
fn data_start(py: Python<'_>, position: Count, alignment: Count) -> PyResult<usize> {
    let alignment = power_of_two(alignment)?;
    call(py, move || table::data_start(position.0, alignment))?.ok_or_else(|| {
        let expected = format!("a number that {alignment} can follow within 64 bits");
        wrong("position", &position.0.to_string(), &expected)
    })
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
