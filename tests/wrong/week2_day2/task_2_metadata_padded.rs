//! id: gguf-values-padded
//! function: read_metadata
//! says: You move to a multiple of 8 after each value; entries stand side by side, and only the tensor data are aligned.
//! shows: these entries are in order, but they were refused
let mut metadata = Metadata::new(file);
for i in 0..count {
    let key = reader.string(&format!("key of metadata entry {i}"))?;
    let field = format!("metadata {}", shown(key));
    let type_id = reader.u32(&field)?;
    let value = read_value(reader, type_id, &field)?;
    let padding = reader.position().next_multiple_of(8) - reader.position();
    reader.take(padding, &field)?;
    if !metadata.insert(key, value) {
        return Err(reader.wrong(&field, "this key twice", "every key once"));
    }
}
Ok(metadata)
