//! Reads the metadata of a file: a list of keys and values. A value has one of thirteen types.
//!
//! Tasks here: week2-day2 task 2 (`read_metadata`, `read_value`, `read_array`). Everything else is
//! provided.

use anyhow::Result;
use tiny_llm_formats::gguf::{Array, Metadata, Value};

use super::reader::{Reader, shown};

/// Reads `count` metadata entries. An entry consists of a key (a string), the type number of its
/// value (four bytes), and the value.
///
/// # Errors
/// If an entry cannot be read, or a key occurs more than once (the message then says `twice`).
/// Messages name the key, for example `metadata general.name`.
pub fn read_metadata(reader: &mut Reader<'_>, count: usize, file: &str) -> Result<Metadata> {
    todo!("week2-day2 task 2: read_metadata")
}

/// Reads a value whose type has the number `type_id`. Types are numbered from 0 to 12, in the order
/// of [`Value`]'s variants. A boolean is one byte, 0 or 1.
///
/// # Errors
/// If no type has this number, the file is too short, or a boolean is neither 0 nor 1. For an
/// unknown type, the message contains `type_id`. For a wrong boolean, the message contains the byte
/// that was found, and `0 or 1`.
pub fn read_value(reader: &mut Reader<'_>, type_id: u32, field: &str) -> Result<Value> {
    todo!("week2-day2 task 2: read_value")
}

/// Reads an array: the type number of its elements (four bytes), the number of elements (eight
/// bytes), then the elements.
///
/// # Errors
/// If no type has this number, the file is too short for that many elements, or an element cannot
/// be read. For an unknown type, the message contains the type's number.
///
/// An array of arrays is also an error, and the message says that an `array` was found as an
/// element. No model uses nested arrays, and each level of nesting would cost a recursive call.
pub fn read_array(reader: &mut Reader<'_>, field: &str) -> Result<Array> {
    todo!("week2-day2 task 2: read_array")
}
