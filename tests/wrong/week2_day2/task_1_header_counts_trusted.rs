//! id: count-trusted
//! function: Reader::header
//! says: Numbers of tensors and entries are believed as they are: no more than the file has room for.
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
    tensors: self.u64("number of tensors")? as usize,
    metadata: self.u64("number of metadata entries")? as usize,
})
