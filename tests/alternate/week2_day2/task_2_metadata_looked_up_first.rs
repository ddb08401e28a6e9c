//! function: read_metadata
//! how: looks for the key before it reads the value
let mut metadata = Metadata::new(file);
while metadata.iter().count() < count {
    let key = reader.string("a key")?;
    let field = format!("metadata {}", shown(key));
    anyhow::ensure!(metadata.get(key).is_none(), "{file}: {field}: twice");
    let type_id = reader.u32(&field)?;
    let value = read_value(reader, type_id, &field)?;
    metadata.insert(key, value);
}
Ok(metadata)
