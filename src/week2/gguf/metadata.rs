//! Metadata: keys with values of thirteen types.
//!
//! Tasks here: week2-day2 task 2 (`read_metadata`, `read_value`, `read_array`). Everything else is
//! provided.

use anyhow::Result;
use tiny_llm_formats::gguf::{Array, Metadata, Value};

use super::reader::{Reader, shown};

/// Reads `count` entries. Each is a key (a string), the number of its value's type (four bytes),
/// and the value.
///
/// # Errors
/// If an entry cannot be read, or a key occurs more than once (the message then says `twice`).
/// Messages name the key, for example `metadata general.name`.
pub fn read_metadata(reader: &mut Reader<'_>, count: usize, file: &str) -> Result<Metadata> {
    todo!("week2-day2 task 2: read_metadata")
}

/// Reads a value of the type with this number, 0 to 12 in the order of [`Value`]'s variants. A
/// boolean is one byte, 0 or 1.
///
/// # Errors
/// If there is no such type, the file ends before the value, or a boolean is neither 0 nor 1. The
/// message contains the number of the type, or for a boolean the byte found and `0 or 1`.
pub fn read_value(reader: &mut Reader<'_>, type_id: u32, field: &str) -> Result<Value> {
    todo!("week2-day2 task 2: read_value")
}

/// Reads an array: the number of its elements' type (four bytes), the number of elements (eight
/// bytes), then the elements.
///
/// # Errors
/// If there is no such type, the file is too short for that many elements, or an element cannot be
/// read. Also if the elements are arrays themselves: no model has any, and each level of nesting
/// would cost a recursive call. The message contains the number of the type, or says that an
/// `array` was found as an element.
pub fn read_array(reader: &mut Reader<'_>, field: &str) -> Result<Array> {
    todo!("week2-day2 task 2: read_array")
}
