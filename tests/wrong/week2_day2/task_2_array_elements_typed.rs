//! id: gguf-array-elements-typed
//! function: read_array
//! says: You read a type before each element; an array has one type for all, which stands before the count.
let type_id = reader.u32(field)?;
let count = reader.count(1, field)?;
let mut all = Vec::new();
for _ in 0..count {
    let type_id = reader.u32(field)?;
    all.push(read_value(reader, type_id, field)?);
}
let all = all.into_iter();
Ok(match type_id {
    4 => Array::U32(all.filter_map(|value| if let Value::U32(x) = value { Some(x) } else { None }).collect()),
    8 => Array::String(all.filter_map(|value| if let Value::String(x) = value { Some(x) } else { None }).collect()),
    _ => Array::U8(all.filter_map(|value| if let Value::U8(x) = value { Some(x) } else { None }).collect()),
})
