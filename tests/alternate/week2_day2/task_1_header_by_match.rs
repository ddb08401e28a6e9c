//! function: Reader::header
//! how: one match on the version
if self.take(4, "magic")? != MAGIC {
    let found = String::from_utf8_lossy(&self.bytes[..4]).escape_debug().to_string();
    return Err(self.wrong("magic", found, "GGUF"));
}
match self.u32("version")? {
    version @ 2..=3 => {
        let tensors = self.count(TENSOR_BYTES, "tensors")?;
        let metadata = self.count(METADATA_BYTES, "metadata")?;
        Ok(Header { version, tensors, metadata })
    }
    0x0200_0000 | 0x0300_0000 => Err(self.wrong("version", "big-endian bytes", "a little-endian file")),
    other => Err(self.wrong("version", other, "2 or 3")),
}
