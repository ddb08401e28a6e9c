//! id: string-invalid-accepted
//! function: Reader::string
//! says: Bytes that are not UTF-8 become an empty string; they are an error.
let length = self.count(1, field)?;
let bytes = self.take(length, field)?;
Ok(std::str::from_utf8(bytes).unwrap_or_default())
