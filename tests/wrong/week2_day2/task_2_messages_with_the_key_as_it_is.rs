//! id: name-not-escaped
//! function: read_metadata
//! says: A key stands in your messages as it is; one with a line feed makes two lines of them. `shown` escapes it.
//! shows: a key of two lines: the message has more than one line
let mut metadata = Metadata::new(file);
for i in 0..count {
    let key = reader.string(&format!("key of metadata entry {i}"))?;
    let field = format!("metadata {}", key);
    let type_id = reader.u32(&field)?;
    let value = read_value(reader, type_id, &field)?;
    if !metadata.insert(key, value) {
        return Err(reader.wrong(&field, "this key twice", "every key once"));
    }
}
Ok(metadata)
