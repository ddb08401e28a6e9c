//! Day 2: reading a GGUF file.

use std::path::PathBuf;

use pyo3::{IntoPyObjectExt as _, exceptions::PyKeyError, types::PyList};
use tiny_llm_formats::gguf::{Array, TensorInfo, Value};

use super::rust::gguf::{self as rust, table};
use crate::prelude::*;

exports! {
    fn data_start;
    class Gguf;
}

/// A GGUF file that is open for reading.
#[pyclass(frozen)]
pub(crate) struct Gguf(Arc<rust::Gguf>);

/// A tensor's name, shape and type, the index of its first byte, and the index after its last.
type Placed = (String, Vec<usize>, String, usize, usize);

/// The name of a value's type, and the value.
type Typed<'py> = (&'static str, Bound<'py, PyAny>);

#[pymethods]
impl Gguf {
    /// Maps a GGUF file into memory.
    #[staticmethod]
    fn open(path: PathBuf) -> PyResult<Self> {
        let path = located(path)?;
        attempt(move || rust::Gguf::open(&path)).map(|gguf| Self(Arc::new(gguf)))
    }

    /// Returns each key with the name of its type, such as `U32` or `Array U32`, and its value.
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Typed<'py>)>> {
        self.0.metadata.iter().map(|(key, value)| Ok((key.to_owned(), typed(py, value)?))).collect()
    }

    /// Returns for each tensor its name, shape (slowest axis first) and type, the index of its
    /// first byte in the file, and the index after its last byte.
    fn tensors(&self) -> PyResult<Vec<Placed>> {
        let gguf = Arc::clone(&self.0);
        call(move || {
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

    /// Returns a tensor's bytes.
    fn bytes_of(&self, name: &str) -> PyResult<Octets> {
        let tensor = self.0.tensor(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        room_for("the bytes", &[tensor.size], 1)?;
        let (gguf, tensor) = (Arc::clone(&self.0), tensor.clone());
        call(move || Octets(gguf.bytes_of(&tensor).to_vec()))
    }

    fn __repr__(&self) -> String {
        format!("Gguf({:?}, tensors={})", self.0.metadata.file(), self.0.tensors.len())
    }
}

/// Maximum alignment of the tensors in a written file.
const MAX_ALIGNMENT: usize = 1 << 20;

/// Returns an alignment, after checking that a file can be written with it.
pub(super) fn checked_alignment(alignment: Count) -> PyResult<usize> {
    let alignment = power_of_two(alignment)?;
    refuse_if!(alignment > MAX_ALIGNMENT; "alignment", alignment; "at most {MAX_ALIGNMENT}");
    Ok(alignment)
}

fn power_of_two(alignment: Count) -> PyResult<usize> {
    refuse_if!(!alignment.0.is_power_of_two(); "alignment", alignment.0; "a power of two");
    Ok(alignment.0)
}

/// Returns where the data section begins, after a table that ends at `position`.
#[pyfunction]
fn data_start(position: Count, alignment: Count) -> PyResult<usize> {
    let alignment = power_of_two(alignment)?;
    call(move || table::data_start(position.0, alignment))?.ok_or_else(|| {
        let expected = format!("a number that {alignment} can follow within 64 bits");
        wrong("position", position.0, expected)
    })
}

fn typed<'py>(py: Python<'py>, value: &Value) -> PyResult<Typed<'py>> {
    macro_rules! typed {
        ($($kind:ident)+) => {
            match value {
                $(Value::$kind(x) => (stringify!($kind), x.into_bound_py_any(py)?),)+
                $(Value::Array(Array::$kind(x)) => {
                    (concat!("Array ", stringify!($kind)), PyList::new(py, x)?.into_any())
                })+
            }
        };
    }
    Ok(typed!(U8 I8 U16 I16 U32 I32 F32 Bool String U64 I64 F64))
}
