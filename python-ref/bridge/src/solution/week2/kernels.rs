//! Days 5 and 6: products of quantized matrices, on every rung of the ladder.

use pyo3::{exceptions::PyValueError, prelude::*};
use tiny_llm_formats::{gguf::TensorType, tensor::tensor};

use super::{
    input::{Groups, arrays},
    rust::{
        input::{BLOCK, Input},
        kernels::{self as rust, Rung},
        matrix::Matrix,
        parallel::Team,
    },
};
use crate::{
    convert::{Any, Matrix as Rows, compute},
    panics::{call, value_error},
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(rungs, m)?)?;
    m.add_function(wrap_pyfunction!(quantize, m)?)?;
    m.add_function(wrap_pyfunction!(matmul, m)?)
}

/// Names of the rungs that this machine can run, slowest first.
#[pyfunction]
fn rungs() -> Vec<&'static str> {
    Rung::available().into_iter().map(Rung::name).collect()
}

/// `[T, C]`
fn input(x: &Rows) -> Input {
    let mut input = Input::default();
    input.resize(x.0.shape()[0], x.0.shape()[1]);
    input.values = x.to_vec();
    input
}

/// `x [T, C]` with a rung's instructions, group after group, with a scale for each `width`.
#[pyfunction]
fn quantize(py: Python<'_>, rung: &str, x: Rows, width: usize) -> PyResult<Groups> {
    let rung: Rung = rung.parse().map_err(PyValueError::new_err)?;
    let mut input = input(&x);
    call(py, || {
        rust::quantize(rung, &Team::new(1), &mut input, width);
    })?;
    Ok(arrays(&input.int8))
}

/// `x [T, C]` times the rows of `bytes [R, row bytes]` → `[T, R]`.
#[pyfunction]
#[pyo3(signature = (rung, tensor_type, bytes, x, threads=1))]
fn matmul(
    py: Python<'_>,
    rung: &str,
    tensor_type: &str,
    bytes: Vec<Vec<u8>>,
    x: Rows,
    threads: usize,
) -> PyResult<Any> {
    let rung: Rung = rung.parse().map_err(PyValueError::new_err)?;
    let tensor_type: TensorType = tensor_type.parse().map_err(PyValueError::new_err)?;
    let mut input = input(&x);
    let weight = Matrix::new(bytes.len(), input.cols, tensor_type, bytes.concat().into())
        .map_err(value_error)?;
    compute(py, || {
        let team = Team::new(threads);
        let _pass = team.enter();
        let width = tensor_type.block_len().max(BLOCK);
        let input = if rung.wants_int8() {
            rust::quantize(rung, &team, &mut input, width)
        } else {
            input.without_int8()
        };
        let mut out = vec![f32::NAN; input.rows * weight.rows];
        rust::matmul(rung, &team, &weight, input, &mut out);
        tensor(&[input.rows, weight.rows], out)
    })
}
