//! id: gguf-version-2
//! function: Reader::header
//! says: Files of version 2 are refused: they have the same layout, and there are many.
let magic: [u8; 4] = self.number("magic")?;
if magic != MAGIC {
    return Err(self.wrong("magic", format!("\"{}\"", magic.escape_ascii()), format!("\"{}\"", MAGIC.escape_ascii())));
}
let version = self.u32("version")?;
if version != 3 {
    let found = if matches!(version.swap_bytes(), 2 | 3) { "a big-endian file".to_owned() } else { version.to_string() };
    return Err(self.wrong("version", found, "2 or 3, little-endian"));
}
Ok(Header {
    version,
    tensors: self.count(TENSOR_BYTES, "number of tensors")?,
    metadata: self.count(METADATA_BYTES, "number of metadata entries")?,
})
