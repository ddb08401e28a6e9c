//! id: gguf-entries-off-by-one
//! function: read_metadata
//! says: The last entry is missing: read as many as the header says.
let mut metadata = Metadata::new(file);
for i in 0..count - 1 {
    let key = reader.string(&format!("key of metadata entry {i}"))?;
    let field = format!("metadata {}", shown(key));
    let type_id = reader.u32(&field)?;
    let value = read_value(reader, type_id, &field)?;
    if !metadata.insert(key, value) {
        return Err(reader.wrong(&field, "this key twice", "every key once"));
    }
}
Ok(metadata)
