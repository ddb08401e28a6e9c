//! id: unwrapped-utf8
//! function: Reader::string
//! says: Bytes that are not UTF-8 make you panic; they are an error to be returned.
//! shows: the bytes C3 28, which are not UTF-8: this panicked
let length = self.count(1, field)?;
let bytes = self.take(length, field)?;
Ok(std::str::from_utf8(bytes).expect("UTF-8"))
