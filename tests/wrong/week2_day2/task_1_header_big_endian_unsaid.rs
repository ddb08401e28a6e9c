//! id: gguf-big-endian
//! function: Reader::header
//! says: The message on a big-endian file gives a version of millions: say that the file is big-endian.
//! shows: does not say "big-endian"
let magic: [u8; 4] = self.number("magic")?;
if magic != MAGIC {
    return Err(self.wrong("magic", format!("\"{}\"", magic.escape_ascii()), format!("\"{}\"", MAGIC.escape_ascii())));
}
let version = self.u32("version")?;
if !matches!(version, 2 | 3) {
    let found = version.to_string();
    return Err(self.wrong("version", found, "2 or 3"));
}
Ok(Header {
    version,
    tensors: self.count(TENSOR_BYTES, "number of tensors")?,
    metadata: self.count(METADATA_BYTES, "number of metadata entries")?,
})
