//! id: gguf-string-zero
//! function: Reader::string
//! says: You read one byte more than the length, for a zero at the end; there is none.
let length = self.count(1, field)?;
let bytes = &self.take(length.saturating_add(1), field)?[..length];
std::str::from_utf8(bytes)
    .map_err(|e| self.wrong(field, format!("a byte at {} that is not UTF-8", e.valid_up_to()), "a string in UTF-8"))
