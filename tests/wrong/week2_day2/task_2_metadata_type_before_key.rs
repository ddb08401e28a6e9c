//! id: gguf-entry-order
//! function: read_metadata
//! says: You read the type of an entry before its key; the key stands first.
//! shows: these entries are in order, but they were refused
let mut metadata = Metadata::new(file);
for i in 0..count {
    let field = format!("metadata entry {i}");
    let type_id = reader.u32(&field)?;
    let key = reader.string(&field)?;
    let value = read_value(reader, type_id, &field)?;
    if !metadata.insert(key, value) {
        return Err(reader.wrong(&field, "this key twice", "every key once"));
    }
}
Ok(metadata)
