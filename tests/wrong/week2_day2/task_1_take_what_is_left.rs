//! id: short-read
//! function: Reader::take
//! says: Where fewer bytes are left than asked for you return those; that is an error, or a truncated file looks whole.
let end = self.position.saturating_add(n).min(self.bytes.len());
let bytes = &self.bytes[self.position..end];
self.position = end;
Ok(bytes)
