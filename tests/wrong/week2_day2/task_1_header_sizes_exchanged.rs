//! id: minimum-sizes-exchanged
//! function: Reader::header
//! says: The smallest sizes are exchanged: an entry of the metadata has at least 13 bytes, one of the tensor table 32.
let magic: [u8; 4] = self.number("magic")?;
if magic != MAGIC {
    return Err(self.wrong("magic", format!("\"{}\"", magic.escape_ascii()), format!("\"{}\"", MAGIC.escape_ascii())));
}
let version = self.u32("version")?;
if !matches!(version, 2 | 3) {
    let found = if matches!(version.swap_bytes(), 2 | 3) { "a big-endian file".to_owned() } else { version.to_string() };
    return Err(self.wrong("version", found, "2 or 3, little-endian"));
}
Ok(Header {
    version,
    tensors: self.count(METADATA_BYTES, "number of tensors")?,
    metadata: self.count(TENSOR_BYTES, "number of metadata entries")?,
})
