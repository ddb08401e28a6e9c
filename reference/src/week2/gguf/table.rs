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
    // SOLUTION week2-day2 task 3
    let name = reader.string(&format!("name of tensor {index}"))?;
    let field = format!("tensor {}", shown(name));
    let axes = reader.u32(&field)?;
    if !(1..=MAX_AXES).contains(&axes) {
        return Err(reader.wrong(&field, format!("{axes} axes"), format!("1 to {MAX_AXES}")));
    }
    let mut shape = Vec::with_capacity(axes as usize);
    for _ in 0..axes {
        let length = reader.u64(&field)?;
        let length = usize::try_from(length).ok().filter(|&length| length > 0);
        shape.push(length.ok_or_else(|| {
            reader.wrong(
                &field,
                "an axis of length 0, or too long for this machine",
                "a length of at least 1 that this machine can address",
            )
        })?);
    }
    shape.reverse();
    let type_id = reader.u32(&field)?;
    let Some(tensor_type) = TensorType::from_id(type_id) else {
        let name = TensorType::name_of_id(type_id).unwrap_or("unknown");
        let supported = TensorType::ALL.map(TensorType::name).join(", ");
        return Err(reader.wrong(
            &field,
            format!("type {type_id} ({name})"),
            format!("one of {supported}"),
        ));
    };
    let offset = reader.u64(&field)?;
    let offset = usize::try_from(offset).map_err(|_| {
        reader.wrong(&field, format!("offset {offset}"), "one that this machine can address")
    })?;
    let size = size_of(&shape, tensor_type).ok_or_else(|| {
        let block = tensor_type.block_len();
        reader.wrong(
            &field,
            format!("shape {shape:?}"),
            format!(
                "a multiple of {block} weights per row (whole {tensor_type} blocks), and a size \
                 that this machine can address"
            ),
        )
    })?;
    Ok(TensorInfo { name: name.to_owned(), shape, tensor_type, offset, size })
    // END SOLUTION
}

// SOLUTION week2-day2 task 3 (helper)
/// Returns the size of a tensor in bytes. Returns `None` if its rows are not a whole number of
/// blocks, or if the size does not fit into a `usize`.
fn size_of(shape: &[usize], tensor_type: TensorType) -> Option<usize> {
    let (&cols, outer) = shape.split_last()?;
    outer.iter().try_fold(tensor_type.row_bytes(cols)?, |size, &n| size.checked_mul(n))
}
// END SOLUTION

/// Returns the alignment of tensors: the value of `general.alignment`, or [`DEFAULT_ALIGNMENT`] if
/// that key is missing.
///
/// # Errors
/// If the value is not a power of two. The message names the key and the value (use
/// [`Metadata::wrong`]).
pub fn alignment(metadata: &Metadata) -> Result<usize> {
    // SOLUTION week2-day2 task 3
    const KEY: &str = "general.alignment";
    let alignment = metadata.size(KEY)?.unwrap_or(DEFAULT_ALIGNMENT);
    ensure!(alignment.is_power_of_two(), metadata.wrong(KEY, "a power of two"));
    Ok(alignment)
    // END SOLUTION
}

/// Returns the offset of the data section: the first multiple of `alignment` at or after
/// `position`. The tensor table ends at `position`. Returns `None` if the result does not fit into
/// a `usize`.
#[must_use]
pub fn data_start(position: usize, alignment: usize) -> Option<usize> {
    // SOLUTION week2-day2 task 3
    position.checked_next_multiple_of(alignment)
    // END SOLUTION
}

/// Returns the range of a tensor's bytes, counted from the start of the file.
#[must_use]
pub fn place(tensor: &TensorInfo, data_start: usize) -> Range<usize> {
    // SOLUTION week2-day2 task 3
    let start = data_start + tensor.offset;
    start..start + tensor.size
    // END SOLUTION
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
    // SOLUTION week2-day2 task 3
    let mut in_order: Vec<&TensorInfo> = tensors.iter().collect();
    in_order.sort_by_key(|tensor| tensor.offset);
    let mut end_before = 0;
    for tensor in in_order {
        let wrong = |expected: String| {
            anyhow!(
                "{file}: tensor {}: found offset {}, expected {expected}",
                shown(&tensor.name),
                tensor.offset
            )
        };
        ensure!(
            tensor.offset.is_multiple_of(alignment),
            wrong(format!("a multiple of {alignment}"))
        );
        ensure!(
            tensor.offset >= end_before,
            wrong(format!("{end_before} or more, because the previous tensor ends there"))
        );
        let end = tensor.offset.checked_add(tensor.size).filter(|&end| end <= data_len);
        end_before = end.ok_or_else(|| {
            wrong(format!(
                "its {} bytes within the {data_len} bytes of data (is the file truncated?)",
                tensor.size
            ))
        })?;
    }
    Ok(())
    // END SOLUTION
}
