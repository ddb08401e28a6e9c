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
/// Messages name the tensor (`tensor token_embd.weight`). If the name cannot be read, the message
/// contains `index` (`name of tensor 3`). An incomplete entry is an error. The other errors are:
///
/// - The number of axes is not 1 to 4. The message contains the number found, and `1 to 4`.
/// - An axis has length 0.
/// - The type is not one of [`TensorType`]. The message contains the type's number.
/// - A row is not a whole number of blocks. The message contains the lengths of the row and of a
///   block.
/// - An axis, the offset or the size does not fit into a `usize`.
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

/// Returns the offset of the data section: the first multiple of `alignment` at or after
/// `position`. The tensor table ends at `position`. Returns `None` if the result does not fit into
/// a `usize`.
#[must_use]
pub fn data_start(position: usize, alignment: usize) -> Option<usize> {
    todo!("week2-day2 task 3: data_start")
}

/// Returns the range of a tensor's bytes, counted from the start of the file.
#[must_use]
pub fn place(tensor: &TensorInfo, data_start: usize) -> Range<usize> {
    todo!("week2-day2 task 3: place")
}

/// Checks that every tensor is aligned and inside the data section of `data_len` bytes. Checks that
/// no two tensors overlap. Tensors may be in any order, with gaps between them.
///
/// # Errors
/// The message names the tensor, its offset and what was expected:
/// - If the tensor is misaligned: a multiple of `alignment`.
/// - If it overlaps the previous tensor (in order of offsets): an offset at or after that tensor's
///   end.
/// - If it extends past the data section: an end within `data_len`.
pub fn check_places(
    tensors: &[TensorInfo],
    alignment: usize,
    data_len: usize,
    file: &str,
) -> Result<()> {
    todo!("week2-day2 task 3: check_places")
}
