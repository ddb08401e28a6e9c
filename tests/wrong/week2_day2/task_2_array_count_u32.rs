//! id: gguf-length-u32
//! function: read_array
//! says: You read the number of elements as four bytes; it has eight.
let type_id = reader.u32(field)?;
fn read<const N: usize, T>(reader: &mut Reader<'_>, field: &str, number: impl Fn([u8; N]) -> T) -> Result<Vec<T>> {
    let count = reader.u32(field)?;
    (0..count).map(|_| Ok(number(reader.number(field)?))).collect()
}
Ok(match type_id {
    0 => Array::U8(read(reader, field, u8::from_le_bytes)?),
    1 => Array::I8(read(reader, field, i8::from_le_bytes)?),
    2 => Array::U16(read(reader, field, u16::from_le_bytes)?),
    3 => Array::I16(read(reader, field, i16::from_le_bytes)?),
    4 => Array::U32(read(reader, field, u32::from_le_bytes)?),
    5 => Array::I32(read(reader, field, i32::from_le_bytes)?),
    6 => Array::F32(read(reader, field, f32::from_le_bytes)?),
    7 => Array::Bool(read(reader, field, |[byte]: [u8; 1]| byte != 0)?),
    8 => {
        let count = reader.u32(field)?;
        Array::String((0..count).map(|_| reader.string(field).map(str::to_owned)).collect::<Result<_>>()?)
    }
    10 => Array::U64(read(reader, field, u64::from_le_bytes)?),
    11 => Array::I64(read(reader, field, i64::from_le_bytes)?),
    12 => Array::F64(read(reader, field, f64::from_le_bytes)?),
    _ => return Err(reader.wrong(field, format!("elements of type {type_id}"), "a type from 0 to 12")),
})
