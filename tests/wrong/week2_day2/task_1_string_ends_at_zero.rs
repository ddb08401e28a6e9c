//! id: gguf-string-zero
//! function: Reader::string
//! says: You end strings at a zero byte, as C does; here the length alone says where one ends, and a zero is a character.
let length = self.count(1, field)?;
let bytes = self.take(length, field)?;
std::str::from_utf8(bytes).map(|text| text.split('\0').next().unwrap_or_default())
    .map_err(|e| self.wrong(field, format!("a byte at {} that is not UTF-8", e.valid_up_to()), "a string in UTF-8"))
