//! id: gguf-unknown-type
//! function: read_value
//! says: A value of an unknown type is passed over as if it were empty: nobody knows how long it is, so nothing after it can be read.
//! shows: must be refused with a message that says a.key, 13
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
    _ => Value::U8(0),
})
