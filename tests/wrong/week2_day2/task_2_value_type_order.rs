//! id: gguf-value-type-order
//! function: read_value
//! says: The types are numbered as if integers of eight bytes came after those of four; they came later to the format and have the numbers 10 and 11.
Ok(match type_id {
    0 => Value::U8(u8::from_le_bytes(reader.number(field)?)),
    1 => Value::I8(i8::from_le_bytes(reader.number(field)?)),
    2 => Value::U16(u16::from_le_bytes(reader.number(field)?)),
    3 => Value::I16(i16::from_le_bytes(reader.number(field)?)),
    4 => Value::U32(reader.u32(field)?),
    5 => Value::I32(i32::from_le_bytes(reader.number(field)?)),
    6 => Value::U64(reader.u64(field)?),
    7 => Value::I64(i64::from_le_bytes(reader.number(field)?)),
    8 => Value::F32(f32::from_le_bytes(reader.number(field)?)),
    9 => Value::F64(f64::from_le_bytes(reader.number(field)?)),
    10 => Value::Bool(truth(reader, field)?),
    11 => Value::String(reader.string(field)?.to_owned()),
    12 => Value::Array(read_array(reader, field)?),
    _ => return Err(reader.wrong(field, format!("a value of type {type_id}"), "a type from 0 to 12")),
})
