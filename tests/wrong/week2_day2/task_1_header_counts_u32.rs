//! id: gguf-length-u32
//! function: Reader::header
//! says: You read the two counts as four bytes each, as version 1 had them; they have eight.
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
    tensors: self.u32("number of tensors")? as usize,
    metadata: self.u32("number of metadata entries")? as usize,
})
