//! id: gguf-type-order
//! function: read_value
//! says: Types 10 and 11 are exchanged: 10 is u64 and 11 is i64.
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
    11 => Value::U64(reader.u64(field)?),
    10 => Value::I64(i64::from_le_bytes(reader.number(field)?)),
    12 => Value::F64(f64::from_le_bytes(reader.number(field)?)),
    _ => return Err(reader.wrong(field, format!("a value of type {type_id}"), "a type from 0 to 12")),
})
