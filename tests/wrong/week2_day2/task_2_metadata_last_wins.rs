//! id: gguf-duplicate-key
//! function: read_metadata
//! says: Of two entries with one key the last wins: which one another program takes is anybody’s guess, so refuse the file.
//! shows: one key twice: Metadata
let mut metadata = Metadata::new(file);
for i in 0..count {
    let key = reader.string(&format!("key of metadata entry {i}"))?;
    let field = format!("metadata {}", shown(key));
    let type_id = reader.u32(&field)?;
    let value = read_value(reader, type_id, &field)?;
    metadata.insert(key, value);
}
Ok(metadata)
