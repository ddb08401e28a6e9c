//! id: gguf-magic-unchecked
//! function: Reader::header
//! says: Any four bytes pass for the magic: a file that does not begin with GGUF is something else.
let magic: [u8; 4] = self.number("magic")?;
if magic != MAGIC && magic[0] == 0 {
    return Err(self.wrong("magic", format!("\"{}\"", magic.escape_ascii()), format!("\"{}\"", MAGIC.escape_ascii())));
}
let version = self.u32("version")?;
if !matches!(version, 2 | 3) {
    let found = if matches!(version.swap_bytes(), 2 | 3) { "a big-endian file".to_owned() } else { version.to_string() };
    return Err(self.wrong("version", found, "2 or 3, little-endian"));
}
Ok(Header {
    version,
    tensors: self.count(TENSOR_BYTES, "number of tensors")?,
    metadata: self.count(METADATA_BYTES, "number of metadata entries")?,
})
