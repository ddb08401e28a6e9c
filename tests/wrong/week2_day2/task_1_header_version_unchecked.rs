//! id: gguf-version-unchecked
//! function: Reader::header
//! says: Every version is accepted, a big-endian file too: only 2 and 3 are as this chapter says.
let magic: [u8; 4] = self.number("magic")?;
if magic != MAGIC {
    return Err(self.wrong("magic", format!("\"{}\"", magic.escape_ascii()), format!("\"{}\"", MAGIC.escape_ascii())));
}
let version = self.u32("version")?;
Ok(Header {
    version,
    tensors: self.count(TENSOR_BYTES, "number of tensors")?,
    metadata: self.count(METADATA_BYTES, "number of metadata entries")?,
})
