//! id: gguf-big-endian
//! function: Reader::header
//! says: Only version 3 is known to you when it is big-endian; version 2 with its bytes swapped is a big-endian file too.
//! shows: a big-endian file of version 2: the message
let magic: [u8; 4] = self.number("magic")?;
if magic != MAGIC {
    return Err(self.wrong("magic", format!("\"{}\"", magic.escape_ascii()), format!("\"{}\"", MAGIC.escape_ascii())));
}
let version = self.u32("version")?;
if !matches!(version, 2 | 3) {
    let found = if version.swap_bytes() == 3 { "a big-endian file".to_owned() } else { version.to_string() };
    return Err(self.wrong("version", found, "2 or 3, little-endian"));
}
Ok(Header {
    version,
    tensors: self.count(TENSOR_BYTES, "number of tensors")?,
    metadata: self.count(METADATA_BYTES, "number of metadata entries")?,
})
