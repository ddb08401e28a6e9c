//! Day 4: writing a GGUF file. In Rust, this is in `gguf::writer`.

use std::{collections::HashSet, path::PathBuf};

use pyo3::types::{PyBool, PyInt};
use tiny_llm_formats::gguf::{Array, DEFAULT_ALIGNMENT, Metadata, TensorType, Value};

use super::{
    blocks::type_named,
    gguf::checked_alignment,
    rust::{gguf::writer as rust, write_file::write_file as write},
};
use crate::prelude::*;

exports! { fn write_file; }

/// A metadata value from Python. Integers are stored as 64 bits.
struct MetadataValue(Value);

impl FromPyObject<'_, '_> for MetadataValue {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyBool>() {
            return Ok(Self(Value::Bool(object.extract()?)));
        }
        // Checks the type first: an integer that is too large could be read as a float.
        if object.is_instance_of::<PyInt>() {
            let n = object.extract().map_err(|_| {
                wrong("metadata", format_args!("{}", &*object), "a 64-bit whole number")
            })?;
            return Ok(Self(Value::I64(n)));
        }
        if let Ok(x) = object.extract::<f64>() {
            return Ok(Self(Value::F64(x)));
        }
        if let Ok(text) = object.extract::<String>() {
            return Ok(Self(Value::String(text)));
        }
        if let Ok(texts) = object.extract::<Vec<String>>() {
            return Ok(Self(Value::Array(Array::String(texts))));
        }
        let found = object.get_type().fully_qualified_name()?;
        Err(PyTypeError::new_err(format!(
            "expected a bool, a number, a str or a list of str, got {found}"
        )))
    }
}

/// A tensor's name, shape (slowest axis first), type as llama.cpp writes it, and bytes.
type Stored = (String, Vec<Count>, String, Vec<u8>);

/// The key of a file's alignment.
const ALIGNMENT: &str = "general.alignment";

/// Writes a GGUF file. A tensor is a name, a shape (slowest axis first), a type as llama.cpp writes
/// it, and bytes.
#[pyfunction]
fn write_file(
    path: PathBuf,
    metadata: Vec<(String, MetadataValue)>,
    tensors: Vec<Stored>,
    alignment: Count,
) -> PyResult<()> {
    let alignment = checked_alignment(alignment)?;
    let mut keys = Metadata::new(&path.display().to_string());
    let mut seen = HashSet::new();
    for (key, value) in metadata {
        refuse_if!(!seen.insert(key.clone()); "metadata", format_args!("key {key:?} twice");
            "each key once");
        keys.insert(&key, value.0);
    }
    // The argument `alignment` is written under this key, unless it is the default.
    refuse_if!(seen.contains(ALIGNMENT); "metadata", ALIGNMENT;
        "it only as the argument alignment");
    if alignment != DEFAULT_ALIGNMENT {
        keys.insert(ALIGNMENT, Value::U32(alignment as u32));
    }
    let mut table: Vec<(String, Vec<usize>, TensorType)> = Vec::with_capacity(tensors.len());
    let mut data = Vec::with_capacity(tensors.len());
    for (name, shape, tensor_type, bytes) in tensors {
        refuse_if!(table.iter().any(|(other, ..)| *other == name);
            "tensors", format_args!("{name:?} twice"); "each name once");
        let shape: Vec<usize> = shape.iter().map(|n| n.0).collect();
        refuse_if!(shape.contains(&0) || !(1..=4).contains(&shape.len());
            "tensors", format_args!("{name:?} of shape {shape:?}");
            "one to four axes, none of length 0");
        table.push((name, shape, type_named(&tensor_type)?));
        data.push(bytes);
    }
    attempt(move || {
        let table = rust::lay_out(&table, alignment)?;
        for (tensor, bytes) in table.iter().zip(&data) {
            let (name, found, expected) = (&tensor.name, bytes.len(), tensor.size);
            anyhow::ensure!(
                found == expected,
                "tensors: {name}: found {found} bytes, expected {expected}"
            );
        }
        let head = rust::head(&keys, &table, alignment);
        write(&path, &head, &table, alignment, |i, out| Ok(out.write_all(&data[i])?))
    })
}
