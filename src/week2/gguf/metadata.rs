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
/// If an entry cannot be read, or if a key occurs twice (the message then says `twice`). Messages
/// name the key, for example `metadata general.name`. If the key cannot be read, the message
/// contains the entry's index (`key of metadata entry 3`, counted from 0).
pub fn read_metadata(reader: &mut Reader<'_>, count: usize, file: &str) -> Result<Metadata> {
    todo!("week2-day2 task 2: read_metadata")
}

/// Reads a value of the type with number `type_id`. Types are numbered 0 to 12, in the order of
/// [`Value`]'s variants. A boolean is one byte, 0 or 1.
///
/// # Errors
/// - No type has the number `type_id`. The message contains `type_id`.
/// - A boolean is neither 0 nor 1. The message contains the byte that was found, and `0 or 1`.
/// - The file is too short.
pub fn read_value(reader: &mut Reader<'_>, type_id: u32, field: &str) -> Result<Value> {
    todo!("week2-day2 task 2: read_value")
}

/// Reads an array: the type number of its elements (four bytes), the number of elements (eight
/// bytes), then the elements.
///
/// # Errors
/// - The type number of the elements is unknown. The message contains that number.
/// - The file is too short for the number of elements.
/// - An element cannot be read.
/// - The elements are arrays. The message says that an `array` was found as an element. No model
///   uses nested arrays, and each level of nesting would cost a recursive call.
pub fn read_array(reader: &mut Reader<'_>, field: &str) -> Result<Array> {
    todo!("week2-day2 task 2: read_array")
}
