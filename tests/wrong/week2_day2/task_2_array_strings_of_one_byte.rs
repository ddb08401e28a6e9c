//! id: count-each-one
//! function: read_array
//! says: Strings of an array count as one byte each; even an empty one takes the eight of its length.
//! shows: 10 strings in 40 bytes: the message
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
        let count = reader.count(1, field)?;
        Array::String((0..count).map(|_| reader.string(field).map(str::to_owned)).collect::<Result<_>>()?)
    }
    9 => return Err(reader.wrong(field, "an array of arrays", "elements that are no arrays")),
    10 => Array::U64(numbers(reader, field, u64::from_le_bytes)?),
    11 => Array::I64(numbers(reader, field, i64::from_le_bytes)?),
    12 => Array::F64(numbers(reader, field, f64::from_le_bytes)?),
    _ => return Err(reader.wrong(field, format!("elements of type {type_id}"), "a type from 0 to 12")),
})
