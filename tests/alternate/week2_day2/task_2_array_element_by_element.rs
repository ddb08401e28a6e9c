//! function: read_array
//! how: reads element by element through read_value
let type_id = reader.u32(field)?;
let size = match type_id {
    0 | 1 | 7 => 1,
    2 | 3 => 2,
    4..=6 => 4,
    8 | 10..=12 => 8,
    9 => return Err(reader.wrong(field, "an array inside an array", "a flat one")),
    other => return Err(reader.wrong(field, format!("element type {other}"), "0 to 12")),
};
let count = reader.count(size, field)?;
macro_rules! all {
    ($variant:ident) => {{
        let mut all = Vec::with_capacity(count);
        for _ in 0..count {
            if let Value::$variant(value) = read_value(reader, type_id, field)? {
                all.push(value);
            }
        }
        Array::$variant(all)
    }};
}
Ok(match type_id {
    0 => all!(U8),
    1 => all!(I8),
    2 => all!(U16),
    3 => all!(I16),
    4 => all!(U32),
    5 => all!(I32),
    6 => all!(F32),
    7 => all!(Bool),
    8 => all!(String),
    10 => all!(U64),
    11 => all!(I64),
    _ => all!(F64),
})
