//! Day 4. Writes a GGUF file. This module produces the bytes that come before the data.
//! `write_file` writes these bytes to the file, then the data, tensor by tensor.
//!
//! Tasks here: week2-day4 task 6 (`put_string`, `put_value`, `lay_out`, `head`). Everything else is
//! provided.

use anyhow::{Result, anyhow};
use tiny_llm_formats::gguf::{Array, MAGIC, Metadata, TensorInfo, TensorType, VERSION, Value};

/// Appends a string in the format that [`Reader::string`](super::gguf::reader::Reader::string)
/// reads: its byte length (a `u64`), then its UTF-8 bytes.
pub fn put_string(out: &mut Vec<u8>, text: &str) {
    todo!("week2-day4 task 6: put_string")
}

/// Appends a metadata value: its type number (four bytes), then the value in the format that
/// [`read_value`](super::gguf::metadata::read_value) reads. Types are numbered 0 to 12, in the
/// order of [`Value`]'s variants. For an array, call [`put_array`].
pub fn put_value(out: &mut Vec<u8>, value: &Value) {
    todo!("week2-day4 task 6: put_value")
}

/// Appends an array: the type number of its elements (four bytes), the number of elements (eight
/// bytes), then the elements without type numbers.
pub fn put_array(out: &mut Vec<u8>, array: &Array) {
    match array {
        Array::U8(all) => put_all(out, 0, all, |out, x| out.push(*x)),
        Array::I8(all) => put_all(out, 1, all, |out, x| out.extend(x.to_le_bytes())),
        Array::U16(all) => put_all(out, 2, all, |out, x| out.extend(x.to_le_bytes())),
        Array::I16(all) => put_all(out, 3, all, |out, x| out.extend(x.to_le_bytes())),
        Array::U32(all) => put_all(out, 4, all, |out, x| out.extend(x.to_le_bytes())),
        Array::I32(all) => put_all(out, 5, all, |out, x| out.extend(x.to_le_bytes())),
        Array::F32(all) => put_all(out, 6, all, |out, x| out.extend(x.to_le_bytes())),
        Array::Bool(all) => put_all(out, 7, all, |out, x| out.push(u8::from(*x))),
        Array::String(all) => put_all(out, 8, all, |out, x| put_string(out, x)),
        Array::U64(all) => put_all(out, 10, all, |out, x| out.extend(x.to_le_bytes())),
        Array::I64(all) => put_all(out, 11, all, |out, x| out.extend(x.to_le_bytes())),
        Array::F64(all) => put_all(out, 12, all, |out, x| out.extend(x.to_le_bytes())),
    }
}

fn put_all<T>(out: &mut Vec<u8>, type_id: u32, all: &[T], put: impl Fn(&mut Vec<u8>, &T)) {
    out.extend(type_id.to_le_bytes());
    out.extend((all.len() as u64).to_le_bytes());
    all.iter().for_each(|x| put(out, x));
}

/// Returns the tensor table of a file that stores `tensors` one after the other. Each tensor is
/// given by its name, its shape (slowest axis first) and its type. The data of a tensor begins at
/// the first multiple of `alignment` at or after the end of the previous tensor.
///
/// # Errors
/// If a tensor has no axes, its rows are not whole blocks, or its size, offset or end overflows.
/// The message names the tensor.
pub fn lay_out(
    tensors: &[(String, Vec<usize>, TensorType)],
    alignment: usize,
) -> Result<Vec<TensorInfo>> {
    todo!("week2-day4 task 6: lay_out")
}

/// Returns the bytes of a file that come before its data: the header, the metadata, the tensor
/// table, and zeros up to a multiple of `alignment`. The header has version [`VERSION`]. The
/// metadata is sorted by key, as [`Metadata::iter`] returns it.
/// [`Reader::header`](super::gguf::reader::Reader::header) and
/// [`read_tensor`](super::gguf::table::read_tensor) list the fields.
#[must_use]
pub fn head(metadata: &Metadata, tensors: &[TensorInfo], alignment: usize) -> Vec<u8> {
    todo!("week2-day4 task 6: head")
}
