//! Days 5 and 6: products of quantized matrices, on every rung of the ladder.

use pyo3::types::PyBytes;

use super::{
    blocks::{type_named, whole_blocks},
    input::{SuperBlocks, arrays, checked_per_scale, finite},
    rust::{
        input::{BLOCK, Input},
        kernels::{self as rust, Rung},
        matrix::Matrix,
        parallel::Team,
    },
};
use crate::prelude::*;

exports! { fn rungs, quantize, matmul; }

/// Maximum number of threads, more than any small machine runs.
const MAX_THREADS: usize = 256;

/// Returns the names of the rungs (kernels) that this machine can run, slowest first.
#[pyfunction]
fn rungs() -> Vec<&'static str> {
    Rung::available().into_iter().map(Rung::name).collect()
}

fn rung_named(name: &str) -> PyResult<Rung> {
    name.parse().map_err(|error| PyValueError::new_err(format!("rung: {error}")))
}

/// Returns `x [T, C]` as the input of a kernel.
fn input(x: &Floats) -> PyResult<Input> {
    fit!(x = "T C");
    finite(x)?;
    let mut input = Input::default();
    input.resize(x.0.shape()[0], x.0.shape()[1]);
    input.values = x.to_vec();
    Ok(input)
}

/// Quantizes each row of `x [T, C]` as `input.quantize_activations` does, with the instructions of
/// a rung.
#[pyfunction]
fn quantize(rung: &str, x: Floats, per_scale: Count) -> PyResult<SuperBlocks> {
    let (rung, per_scale) = (rung_named(rung)?, checked_per_scale(per_scale)?);
    let mut input = input(&x)?;
    call(move || {
        rust::quantize(rung, &Team::new(1), &mut input, per_scale);
        arrays(&input.int8)
    })
}

/// Multiplies `x [T, C]` by `R` weight rows → `[T, R]`. `bytes` holds the blocks of each weight
/// row.
#[pyfunction]
#[pyo3(
    signature = (rung, tensor_type, bytes, x, threads=Count(1)),
    text_signature = "(rung, tensor_type, bytes, x, threads=1)"
)]
fn matmul(
    rung: &str,
    tensor_type: &str,
    bytes: Vec<Bound<'_, PyBytes>>,
    x: Floats,
    threads: Count,
) -> PyResult<Floats> {
    let (rung, tensor_type) = (rung_named(rung)?, type_named(tensor_type)?);
    let mut input = input(&x)?;
    whole_blocks("x", input.cols, tensor_type)?;
    let row_bytes = input.cols / tensor_type.block_len() * tensor_type.block_bytes();
    refuse_if!(bytes.is_empty(); "bytes", "no row"; "at least one");
    let of_another_length =
        |(_, row): &(usize, &Bound<'_, PyBytes>)| row.as_bytes().len() != row_bytes;
    if let Some((r, row)) = bytes.iter().enumerate().find(of_another_length) {
        let found = format!("{} bytes in row {r}", row.as_bytes().len());
        let expected = format!(
            "{row_bytes}: {} weights in {tensor_type}, as many as x has columns",
            input.cols
        );
        return Err(wrong("bytes", found, expected));
    }
    at_least_one("threads", threads.0)?;
    below("threads", threads.0, MAX_THREADS + 1, "the most that are supported")?;
    room("the result", &[input.rows, bytes.len()])?;
    let rows: Vec<u8> = bytes.iter().flat_map(PyBytesMethods::as_bytes).copied().collect();
    let weight =
        Matrix::new(bytes.len(), input.cols, tensor_type, rows.into()).map_err(value_error)?;
    compute(move || {
        let team = Team::new(threads.0);
        team.enter();
        let per_scale = tensor_type.block_len().max(BLOCK);
        let input = if rung.wants_int8() {
            rust::quantize(rung, &team, &mut input, per_scale)
        } else {
            input.without_int8()
        };
        let mut out = vec![f32::NAN; input.rows * weight.rows];
        rust::matmul(rung, &team, &weight, input, &mut out);
        tensor(&[input.rows, weight.rows], out)
    })
}
