//! id: unchecked-slice
//! function: Reader::take
//! says: A slice past the end panics: ask with `get`, or compare with what remains, and return an error.
//! shows: take(4) at 7 of 10: this panicked: range end index 11 out of range
let _ = field;
let bytes = &self.bytes[self.position..self.position.saturating_add(n)];
self.position += n;
Ok(bytes)
