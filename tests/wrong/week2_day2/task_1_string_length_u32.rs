//! id: gguf-length-u32
//! function: Reader::string
//! says: You read the length of strings as four bytes; it has eight.
let length = self.u32(field)? as usize;
let bytes = self.take(length, field)?;
std::str::from_utf8(bytes)
    .map_err(|e| self.wrong(field, format!("a byte at {} that is not UTF-8", e.valid_up_to()), "a string in UTF-8"))
