//! Day 2: the maximum speed of a machine.

use tiny_llm_formats::gguf::{TensorInfo, TensorType};

use super::rust::roofline as rust;
use crate::prelude::*;

exports! {
    fn work;
    class Machine;
}

/// A tensor's name, shape (slowest axis first) and type as llama.cpp writes it.
type Described = (String, Vec<Count>, String);

/// Returns the bytes and multiply-adds of a pass. A tensor is a name, a shape (slowest axis first)
/// and a type.
#[pyfunction]
fn work(tensors: Vec<Described>) -> PyResult<(u64, u64)> {
    let table = tensors.into_iter().map(info).collect::<PyResult<Vec<_>>>()?;
    // Upper bounds of a solution's sums, which leave out some tensors.
    let numbers = |tensor: &TensorInfo| tensor.shape.iter().map(|n| *n as u128).product::<u128>();
    let bytes: u128 = table.iter().map(|tensor| tensor.size as u128).sum();
    let multiply_adds: u128 = table.iter().map(numbers).sum();
    refuse_if!(bytes.max(multiply_adds) > u64::MAX.into();
        "tensors", format_args!("{bytes} bytes and {multiply_adds} numbers");
        "sums of at most 64 bits");
    let work = call(move || rust::work(&table))?;
    Ok((work.bytes, work.multiply_adds))
}

fn info((name, shape, tensor_type): Described) -> PyResult<TensorInfo> {
    let wrong = |problem: String| PyValueError::new_err(format!("tensors: {name}: {problem}"));
    let tensor_type: TensorType = tensor_type.parse().map_err(wrong)?;
    let shape: Vec<usize> = shape.iter().map(|n| n.0).collect();
    let rows = shape.split_last().filter(|_| !shape.contains(&0)).and_then(|(cols, outer)| {
        let row = tensor_type.row_bytes(*cols)?;
        outer.iter().try_fold(row, |size, n| size.checked_mul(*n))
    });
    let Some(size) = rows else {
        let block = tensor_type.block_len();
        return Err(wrong(format!(
            "found shape {shape:?}, expected axes from 1 on, the last a multiple of {block}, \
             and a size that can be counted"
        )));
    };
    Ok(TensorInfo { name, shape, tensor_type, offset: 0, size })
}

/// The speed of a machine: bytes read and operations computed per second.
#[pyclass(frozen)]
pub(crate) struct Machine(rust::Machine);

#[pymethods]
impl Machine {
    #[new]
    fn new(bandwidth: Double, operations: Double) -> PyResult<Self> {
        let (bandwidth, operations) = (bandwidth.0, operations.0);
        for (argument, x) in [("bandwidth", bandwidth), ("operations", operations)] {
            refuse_if!(x <= 0.0; argument, x; "a number above 0");
        }
        Ok(Self(rust::Machine { bandwidth, operations }))
    }

    /// Returns the minimum time of a pass over `rows` rows, in seconds. `work` is bytes and
    /// multiply-adds.
    fn seconds(&self, work: Work, rows: Count) -> PyResult<f64> {
        let machine = self.0;
        crate::panics::catch(|| machine.seconds(work.0, rows.0))
    }

    /// Returns the maximum number of tokens per second if each pass has `rows` rows.
    fn tokens_per_second(&self, work: Work, rows: Count) -> PyResult<f64> {
        work.is_some()?;
        let machine = self.0;
        crate::panics::catch(|| machine.tokens_per_second(work.0, rows.0))
    }

    /// Returns the number of rows at which a pass takes as long to compute as to read.
    fn balanced_rows(&self, work: Work) -> PyResult<f64> {
        work.is_some()?;
        let machine = self.0;
        crate::panics::catch(|| machine.balanced_rows(work.0))
    }

    fn __repr__(&self) -> String {
        format!("Machine(bandwidth={:e}, operations={:e})", self.0.bandwidth, self.0.operations)
    }
}

/// The work of a pass: bytes to read, and multiply-adds.
struct Work(rust::Work);

impl Work {
    /// Rejects work of 0 bytes or 0 multiply-adds, to avoid division by 0.
    fn is_some(&self) -> PyResult<()> {
        let rust::Work { bytes, multiply_adds } = self.0;
        refuse_if!(bytes == 0 || multiply_adds == 0;
            "work", format_args!("{bytes} bytes and {multiply_adds} multiply-adds");
            "1 of each or more");
        Ok(())
    }
}

impl FromPyObject<'_, '_> for Work {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let (bytes, multiply_adds): (Bound<'_, PyAny>, Bound<'_, PyAny>) = object.extract()?;
        let (bytes, multiply_adds) = (whole(&bytes, u64::MAX)?, whole(&multiply_adds, u64::MAX)?);
        Ok(Self(rust::Work { bytes, multiply_adds }))
    }
}
