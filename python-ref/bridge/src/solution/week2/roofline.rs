//! Day 2: how fast a machine can be at best.

use pyo3::{exceptions::PyValueError, prelude::*};
use tiny_llm_formats::gguf::{TensorInfo, TensorType};

use super::rust::roofline as rust;
use crate::panics::call;

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Machine>()?;
    m.add_function(wrap_pyfunction!(work, m)?)
}

/// Bytes and multiply-adds of a pass over tensors, each given as name, shape (slowest axis first)
/// and type as llama.cpp writes it.
#[pyfunction]
fn work(py: Python<'_>, tensors: Vec<(String, Vec<usize>, String)>) -> PyResult<(u64, u64)> {
    let mut table = Vec::new();
    for (name, shape, tensor_type) in tensors {
        let tensor_type: TensorType = tensor_type.parse().map_err(PyValueError::new_err)?;
        let (cols, outer) = shape
            .split_last()
            .ok_or_else(|| PyValueError::new_err(format!("{name}: a tensor has an axis")))?;
        let row_bytes = tensor_type
            .row_bytes(*cols)
            .ok_or_else(|| PyValueError::new_err(format!("{name}: no whole blocks")))?;
        let size = row_bytes * outer.iter().product::<usize>();
        table.push(TensorInfo { name, shape, tensor_type, offset: 0, size });
    }
    let work = call(py, || rust::work(&table))?;
    Ok((work.bytes, work.multiply_adds))
}

#[pyclass(frozen)]
pub(crate) struct Machine(rust::Machine);

#[pymethods]
impl Machine {
    #[new]
    fn new(bandwidth: f64, operations: f64) -> Self {
        Self(rust::Machine { bandwidth, operations })
    }

    fn seconds(&self, py: Python<'_>, work: (u64, u64), rows: usize) -> PyResult<f64> {
        call(py, || self.0.seconds(pass(work), rows))
    }

    fn tokens_per_second(&self, py: Python<'_>, work: (u64, u64), rows: usize) -> PyResult<f64> {
        call(py, || self.0.tokens_per_second(pass(work), rows))
    }

    fn balanced_rows(&self, py: Python<'_>, work: (u64, u64)) -> PyResult<f64> {
        call(py, || self.0.balanced_rows(pass(work)))
    }
}

fn pass((bytes, multiply_adds): (u64, u64)) -> rust::Work {
    rust::Work { bytes, multiply_adds }
}
