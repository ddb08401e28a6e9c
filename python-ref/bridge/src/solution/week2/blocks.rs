//! Days 3 and 4: rows of blocks, and errors, which in Rust are in `blocks::error`.

use tiny_llm_formats::gguf::TensorType;

use super::rust::blocks as rust;
use crate::prelude::*;

exports! { fn dequantize_row, quantize_row, rms_error, relative_error, round_trip_error; }

/// Parses the name of a tensor type as llama.cpp writes it, such as `Q4_0`.
pub(crate) fn type_named(name: &str) -> PyResult<TensorType> {
    name.parse().map_err(|error| PyValueError::new_err(format!("tensor_type: {error}")))
}

/// Rejects a row of `cols` elements that is not a whole number of blocks.
pub(super) fn whole_blocks(argument: &str, cols: usize, of: TensorType) -> PyResult<()> {
    let block = of.block_len();
    if cols.is_multiple_of(block) {
        return Ok(());
    }
    let expected = format!("a multiple of {block}, the block length of {of}");
    Err(wrong(argument, format_args!("{cols} weights in a row"), expected))
}

/// Checks that a row can be stored in a type.
fn storable(tensor_type: TensorType, x: &Floats) -> PyResult<()> {
    fit!(x = "cols");
    whole_blocks("x", x.0.len(), tensor_type)?;
    if matches!(tensor_type, TensorType::F32 | TensorType::BF16) {
        return every("x", &x.0, "finite numbers", f32::is_finite);
    }
    // Blocks store their scales as f16.
    let largest = half::f16::MAX.to_f32();
    let expected = format!("numbers of at most {largest} in size, which half precision can hold");
    every("x", &x.0, &expected, |x| x.abs() <= largest)
}

/// Decodes a row of blocks to weights. `tensor_type` is llama.cpp's name, such as `Q4_0`.
#[pyfunction]
fn dequantize_row(tensor_type: &str, bytes: &[u8]) -> PyResult<Floats> {
    let tensor_type = type_named(tensor_type)?;
    let (len, block) = (bytes.len(), tensor_type.block_bytes());
    refuse_if!(!len.is_multiple_of(block); "bytes", format_args!("{len} bytes");
        "a multiple of {block}, the bytes of a block of {tensor_type}");
    let cols = len / block * tensor_type.block_len();
    room("the weights", &[cols])?;
    let bytes = bytes.to_vec();
    compute(move || {
        let mut out = vec![f32::NAN; cols];
        rust::dequantize_row(tensor_type, &bytes, &mut out);
        tensor(&[cols], out)
    })
}

/// Encodes a row of weights, `x [cols]`, as blocks.
#[pyfunction]
fn quantize_row(tensor_type: &str, x: Floats) -> PyResult<Octets> {
    let tensor_type = type_named(tensor_type)?;
    storable(tensor_type, &x)?;
    call(move || {
        let mut out = vec![0; x.0.len() / tensor_type.block_len() * tensor_type.block_bytes()];
        rust::quantize_row(tensor_type, &x.to_vec(), &mut out);
        Octets(out)
    })
}

/// Returns two rows, after checking that they have the same length.
fn pair(x: &Floats, y: &Floats) -> PyResult<(Vec<f32>, Vec<f32>)> {
    fit!(x = "n", y = "n");
    Ok((x.to_vec(), y.to_vec()))
}

/// Returns the root mean square of the differences between `x [n]` and `y [n]`.
#[pyfunction]
fn rms_error(x: Floats, y: Floats) -> PyResult<f64> {
    let (x, y) = pair(&x, &y)?;
    call(move || rust::error::rms_error(&x, &y))
}

/// Returns the error of `y [n]` relative to the original values, `x [n]`.
#[pyfunction]
fn relative_error(x: Floats, y: Floats) -> PyResult<f64> {
    let (x, y) = pair(&x, &y)?;
    call(move || rust::error::relative_error(&x, &y))
}

/// Returns the relative error of a row `x [cols]` that is stored in a type and read back.
#[pyfunction]
fn round_trip_error(tensor_type: &str, x: Floats) -> PyResult<f64> {
    let tensor_type = type_named(tensor_type)?;
    storable(tensor_type, &x)?;
    call(move || rust::error::round_trip_error(tensor_type, &x.to_vec()))
}
