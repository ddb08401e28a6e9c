//! id: length-overflow
//! function: Reader::take
//! says: The position plus a length that the file claims overflows: compare the length with what remains, or use `checked_add`.
//! shows: take(18446744073709551615) at 7 of 10: this panicked: attempt to add with overflow
if self.position + n > self.bytes.len() {
    return Err(self.wrong(field, format!("{} bytes before the end of the file", self.remaining()), n));
}
let bytes = &self.bytes[self.position..self.position + n];
self.position += n;
Ok(bytes)
