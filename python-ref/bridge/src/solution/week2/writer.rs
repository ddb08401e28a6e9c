//! Day 4: a GGUF file; in Rust this stands in `gguf::writer`.

use std::path::PathBuf;

use pyo3::{exceptions::PyValueError, prelude::*};
use tiny_llm_formats::gguf::{Array, Metadata, TensorType, Value};

use super::rust::gguf::writer as rust;
use crate::panics::call;

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(write_file, m)?)
}

/// A value as Python has it: whole numbers are 64 bits wide.
#[derive(FromPyObject)]
enum Any {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Texts(Vec<String>),
}

impl From<Any> for Value {
    fn from(value: Any) -> Self {
        match value {
            Any::Bool(x) => Self::Bool(x),
            Any::Int(x) => Self::I64(x),
            Any::Float(x) => Self::F64(x),
            Any::Text(x) => Self::String(x),
            Any::Texts(x) => Self::Array(Array::String(x)),
        }
    }
}

/// Name, shape (slowest axis first), type as llama.cpp writes it, bytes.
type Stored = (String, Vec<usize>, String, Vec<u8>);

/// Writes a file.
#[pyfunction]
fn write_file(
    py: Python<'_>,
    path: PathBuf,
    metadata: Vec<(String, Any)>,
    tensors: Vec<Stored>,
    alignment: usize,
) -> PyResult<()> {
    let mut keys = Metadata::new(&path.display().to_string());
    for (key, value) in metadata {
        keys.insert(&key, value.into());
    }
    let named = |(name, shape, tensor_type, _): &Stored| {
        let tensor_type: TensorType = tensor_type.parse().map_err(PyValueError::new_err)?;
        Ok((name.clone(), shape.clone(), tensor_type))
    };
    let table = tensors.iter().map(named).collect::<PyResult<Vec<_>>>()?;
    let written =
        call(py, || {
            let table = rust::lay_out(&table, alignment)?;
            let head = rust::head(&keys, &table, alignment);
            rust::write_file(&path, &head, &table, alignment, |i, out| {
                Ok(out.write_all(&tensors[i].3)?)
            })
        })?;
    written.map_err(|error: anyhow::Error| PyValueError::new_err(error.to_string()))
}
