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
    // SOLUTION week2-day2 task 2
    let mut metadata = Metadata::new(file);
    for i in 0..count {
        let key = reader.string(&format!("key of metadata entry {i}"))?;
        let field = format!("metadata {}", shown(key));
        let type_id = reader.u32(&field)?;
        let value = read_value(reader, type_id, &field)?;
        if !metadata.insert(key, value) {
            return Err(reader.wrong(&field, "this key twice", "every key once"));
        }
    }
    Ok(metadata)
    // END SOLUTION
}

/// Reads a value of the type with number `type_id`. Types are numbered 0 to 12, in the order of
/// [`Value`]'s variants. A boolean is one byte, 0 or 1.
///
/// # Errors
/// - No type has the number `type_id`. The message contains `type_id`.
/// - A boolean is neither 0 nor 1. The message contains the byte that was found, and `0 or 1`.
/// - The file is too short.
pub fn read_value(reader: &mut Reader<'_>, type_id: u32, field: &str) -> Result<Value> {
    // SOLUTION week2-day2 task 2
    Ok(match type_id {
        0 => Value::U8(u8::from_le_bytes(reader.number(field)?)),
        1 => Value::I8(i8::from_le_bytes(reader.number(field)?)),
        2 => Value::U16(u16::from_le_bytes(reader.number(field)?)),
        3 => Value::I16(i16::from_le_bytes(reader.number(field)?)),
        4 => Value::U32(reader.u32(field)?),
        5 => Value::I32(i32::from_le_bytes(reader.number(field)?)),
        6 => Value::F32(f32::from_le_bytes(reader.number(field)?)),
        7 => Value::Bool(truth(reader, field)?),
        8 => Value::String(reader.string(field)?.to_owned()),
        9 => Value::Array(read_array(reader, field)?),
        10 => Value::U64(reader.u64(field)?),
        11 => Value::I64(i64::from_le_bytes(reader.number(field)?)),
        12 => Value::F64(f64::from_le_bytes(reader.number(field)?)),
        _ => {
            return Err(reader.wrong(
                field,
                format!("a value of type {type_id}"),
                "a type from 0 to 12",
            ));
        }
    })
    // END SOLUTION
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
    // SOLUTION week2-day2 task 2
    let type_id = reader.u32(field)?;
    Ok(match type_id {
        0 => Array::U8(numbers(reader, field, u8::from_le_bytes)?),
        1 => Array::I8(numbers(reader, field, i8::from_le_bytes)?),
        2 => Array::U16(numbers(reader, field, u16::from_le_bytes)?),
        3 => Array::I16(numbers(reader, field, i16::from_le_bytes)?),
        4 => Array::U32(numbers(reader, field, u32::from_le_bytes)?),
        5 => Array::I32(numbers(reader, field, i32::from_le_bytes)?),
        6 => Array::F32(numbers(reader, field, f32::from_le_bytes)?),
        7 => {
            let count = reader.count(1, field)?;
            Array::Bool((0..count).map(|_| truth(reader, field)).collect::<Result<_>>()?)
        }
        8 => {
            // Even an empty string takes the eight bytes of its length.
            let count = reader.count(8, field)?;
            Array::String(
                (0..count)
                    .map(|_| reader.string(field).map(str::to_owned))
                    .collect::<Result<_>>()?,
            )
        }
        9 => return Err(reader.wrong(field, "an array of arrays", "elements that aren't arrays")),
        10 => Array::U64(numbers(reader, field, u64::from_le_bytes)?),
        11 => Array::I64(numbers(reader, field, i64::from_le_bytes)?),
        12 => Array::F64(numbers(reader, field, f64::from_le_bytes)?),
        _ => {
            return Err(reader.wrong(
                field,
                format!("elements of type {type_id}"),
                "a type from 0 to 12",
            ));
        }
    })
    // END SOLUTION
}

// SOLUTION week2-day2 task 2 (helper)
/// Reads a count, then that many numbers of `N` bytes each.
fn numbers<const N: usize, T>(
    reader: &mut Reader<'_>,
    field: &str,
    number: impl Fn([u8; N]) -> T,
) -> Result<Vec<T>> {
    let count = reader.count(N, field)?;
    let bytes = reader.take(count * N, field)?;
    Ok(bytes.chunks_exact(N).map(|bytes| number(bytes.try_into().expect("N bytes"))).collect())
}
// END SOLUTION

// SOLUTION week2-day2 task 2 (helper)
/// Reads a boolean: one byte, 0 or 1.
fn truth(reader: &mut Reader<'_>, field: &str) -> Result<bool> {
    match reader.number(field)? {
        [0] => Ok(false),
        [1] => Ok(true),
        [byte] => Err(reader.wrong(field, format!("the byte {byte}"), "0 or 1, a truth value")),
    }
}
// END SOLUTION
