//! The tensor table: where each tensor is in the data section.
//!
//! Tasks here: week2-day2 task 3 (`read_tensor`, `alignment`, `data_start`, `place`,
//! `check_places`). Everything else is provided.

use std::ops::Range;

use anyhow::{Result, anyhow, ensure};
use tiny_llm_formats::gguf::{DEFAULT_ALIGNMENT, Metadata, TensorInfo, TensorType};

use super::reader::{Reader, shown};

/// The maximum number of axes of a tensor.
const MAX_AXES: u32 = 4;

/// Reads `count` entries of the tensor table, in the file's order.
///
/// # Errors
/// The same as for [`read_tensor`].
pub fn read_tensors(reader: &mut Reader<'_>, count: usize) -> Result<Vec<TensorInfo>> {
    (0..count).map(|index| read_tensor(reader, index)).collect()
}

/// Reads one entry of the tensor table: the name (a string), the number of axes (four bytes), the
/// length of each axis (eight bytes, fastest-varying first), the type's number (four bytes), and
/// the offset (eight bytes).
///
/// The returned shape has the slowest-varying axis first. The size follows from the shape and the
/// type. A row runs along the fastest-varying axis and is a whole number of blocks.
///
/// # Errors
/// If the number of axes is not 1 to 4, an axis has length 0, the type is not one of
/// [`TensorType`], a row is not a whole number of blocks, or an axis, the offset or the size does
/// not fit into a `usize`. Messages name the tensor (`tensor token_embd.weight`). If the name
/// cannot be read, the message contains `index` in its place (`name of tensor 3`). For three of
/// these errors, the message also contains:
///
/// - Wrong number of axes: the number found, and `1 to 4`.
/// - Unsupported type: the type's number.
/// - Row that is not a whole number of blocks: the row's length, and the length of a block.
pub fn read_tensor(reader: &mut Reader<'_>, index: usize) -> Result<TensorInfo> {
    todo!("week2-day2 task 3: read_tensor")
}

/// Returns the alignment of tensors: the value of `general.alignment`, or [`DEFAULT_ALIGNMENT`] if
/// that key is missing.
///
/// # Errors
/// If the value is not a power of two. The message names the key and the value (use
/// [`Metadata::wrong`]).
pub fn alignment(metadata: &Metadata) -> Result<usize> {
    todo!("week2-day2 task 3: alignment")
}

/// Returns where the data section begins: at the first multiple of `alignment` that is at or after
/// `position`, the end of the table. Returns `None` if the result does not fit into a `usize`.
#[must_use]
pub fn data_start(position: usize, alignment: usize) -> Option<usize> {
    todo!("week2-day2 task 3: data_start")
}

/// Returns the range of a tensor's bytes, counted from the start of the file.
#[must_use]
pub fn place(tensor: &TensorInfo, data_start: usize) -> Range<usize> {
    todo!("week2-day2 task 3: place")
}

/// Checks that every tensor begins at a multiple of `alignment` and is within the `data_len` bytes
/// of the data section, and that no two tensors overlap. Tensors may be in any order, with gaps
/// between them.
///
/// # Errors
/// If a tensor is misaligned, overlaps the one before it in the data section, or extends past
/// `data_len`. The message names the tensor, its offset and what was expected: a multiple of
/// `alignment`, an offset at or after the end of the tensor before it, or an end within `data_len`.
pub fn check_places(
    tensors: &[TensorInfo],
    alignment: usize,
    data_len: usize,
    file: &str,
) -> Result<()> {
    todo!("week2-day2 task 3: check_places")
}
