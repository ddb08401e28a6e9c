//! id: gguf-values-padded
//! function: read_value
//! says: You read numbers of one and two bytes as four; nothing is padded here.
Ok(match type_id {
    0 => Value::U8(reader.u32(field)? as u8),
    1 => Value::I8(reader.u32(field)? as i8),
    2 => Value::U16(reader.u32(field)? as u16),
    3 => Value::I16(reader.u32(field)? as i16),
    4 => Value::U32(reader.u32(field)?),
    5 => Value::I32(i32::from_le_bytes(reader.number(field)?)),
    6 => Value::F32(f32::from_le_bytes(reader.number(field)?)),
    7 => Value::Bool(truth(reader, field)?),
    8 => Value::String(reader.string(field)?.to_owned()),
    9 => Value::Array(read_array(reader, field)?),
    10 => Value::U64(reader.u64(field)?),
    11 => Value::I64(i64::from_le_bytes(reader.number(field)?)),
    12 => Value::F64(f64::from_le_bytes(reader.number(field)?)),
    _ => return Err(reader.wrong(field, format!("a value of type {type_id}"), "a type from 0 to 12")),
})
