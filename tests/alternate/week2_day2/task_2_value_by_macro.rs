//! function: read_value
//! how: a macro for the numbers
macro_rules! number {
    ($variant:ident, $type:ty) => {
        Value::$variant(<$type>::from_le_bytes(reader.number(field)?))
    };
}
let value = match type_id {
    0 => number!(U8, u8),
    1 => number!(I8, i8),
    2 => number!(U16, u16),
    3 => number!(I16, i16),
    4 => number!(U32, u32),
    5 => number!(I32, i32),
    6 => number!(F32, f32),
    7 => match reader.take(1, field)? {
        [0] => Value::Bool(false),
        [1] => Value::Bool(true),
        other => return Err(reader.wrong(field, format!("{other:?}"), "[0] or [1]")),
    },
    8 => Value::String(String::from(reader.string(field)?)),
    9 => Value::Array(read_array(reader, field)?),
    10 => number!(U64, u64),
    11 => number!(I64, i64),
    12 => number!(F64, f64),
    other => return Err(reader.wrong(field, other, "a known type")),
};
Ok(value)
