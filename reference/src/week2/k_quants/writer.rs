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
    // SOLUTION week2-day4 task 6
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
    // END SOLUTION
}

/// Appends a metadata value: its type number (four bytes), then the value in the format that
/// [`read_value`](super::gguf::metadata::read_value) reads. Types are numbered 0 to 12, in the
/// order of [`Value`]'s variants. For an array, call [`put_array`].
pub fn put_value(out: &mut Vec<u8>, value: &Value) {
    // SOLUTION week2-day4 task 6
    let mut put = |type_id: u32, bytes: &[u8]| {
        out.extend(type_id.to_le_bytes());
        out.extend(bytes);
    };
    match value {
        Value::U8(x) => put(0, &x.to_le_bytes()),
        Value::I8(x) => put(1, &x.to_le_bytes()),
        Value::U16(x) => put(2, &x.to_le_bytes()),
        Value::I16(x) => put(3, &x.to_le_bytes()),
        Value::U32(x) => put(4, &x.to_le_bytes()),
        Value::I32(x) => put(5, &x.to_le_bytes()),
        Value::F32(x) => put(6, &x.to_le_bytes()),
        Value::Bool(x) => put(7, &[u8::from(*x)]),
        Value::String(text) => {
            put(8, &[]);
            put_string(out, text);
        }
        Value::Array(array) => {
            put(9, &[]);
            put_array(out, array);
        }
        Value::U64(x) => put(10, &x.to_le_bytes()),
        Value::I64(x) => put(11, &x.to_le_bytes()),
        Value::F64(x) => put(12, &x.to_le_bytes()),
    }
    // END SOLUTION
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
    // SOLUTION week2-day4 task 6
    let mut table: Vec<TensorInfo> = Vec::with_capacity(tensors.len());
    for (name, shape, tensor_type) in tensors {
        let (cols, outer) = shape
            .split_last()
            .ok_or_else(|| anyhow!("tensor {name}: found no axes, expected at least one"))?;
        let row = tensor_type.row_bytes(*cols).ok_or_else(|| {
            anyhow!(
                "tensor {name}: found rows of {cols} weights, expected whole {tensor_type} blocks \
                 of {}",
                tensor_type.block_len()
            )
        })?;
        let place = || {
            let size = outer.iter().try_fold(row, |size, &n| size.checked_mul(n))?;
            let end = table.last().map_or(0, |before| before.offset + before.size);
            let offset = end.checked_next_multiple_of(alignment)?;
            offset.checked_add(size).map(|_| (offset, size))
        };
        let (offset, size) = place().ok_or_else(|| {
            anyhow!(
                "tensor {name}: found shape {shape:?}, expected one that this machine can address"
            )
        })?;
        table.push(TensorInfo {
            name: name.clone(),
            shape: shape.clone(),
            tensor_type: *tensor_type,
            offset,
            size,
        });
    }
    Ok(table)
    // END SOLUTION
}

/// Returns the bytes of a file that come before its data: the header, the metadata, the tensor
/// table, and zeros up to a multiple of `alignment`. The header has version [`VERSION`]. The
/// metadata is sorted by key, as [`Metadata::iter`] returns it.
/// [`Reader::header`](super::gguf::reader::Reader::header) and
/// [`read_tensor`](super::gguf::table::read_tensor) list the fields.
#[must_use]
pub fn head(metadata: &Metadata, tensors: &[TensorInfo], alignment: usize) -> Vec<u8> {
    // SOLUTION week2-day4 task 6
    let mut out = MAGIC.to_vec();
    out.extend(VERSION.to_le_bytes());
    out.extend((tensors.len() as u64).to_le_bytes());
    out.extend((metadata.iter().count() as u64).to_le_bytes());
    for (key, value) in metadata.iter() {
        put_string(&mut out, key);
        put_value(&mut out, value);
    }
    for tensor in tensors {
        put_string(&mut out, &tensor.name);
        out.extend((tensor.shape.len() as u32).to_le_bytes());
        // The file has the fastest axis first.
        for length in tensor.shape.iter().rev() {
            out.extend((*length as u64).to_le_bytes());
        }
        out.extend(tensor.tensor_type.id().to_le_bytes());
        out.extend((tensor.offset as u64).to_le_bytes());
    }
    out.resize(out.len().next_multiple_of(alignment), 0);
    out
    // END SOLUTION
}
