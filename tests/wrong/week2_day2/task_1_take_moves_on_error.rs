//! id: failed-read-moves
//! function: Reader::take
//! says: A read that fails leaves the position at the end of the file; it must stay where it was.
// Not `position + n <= len`: a length that the file made up may overflow the sum.
let Some(bytes) = self.bytes[self.position..].get(..n) else {
    let error = self.wrong(field, format!("{} bytes before the end of the file", self.remaining()), n);
    self.position = self.bytes.len();
    return Err(error);
};
self.position += n;
Ok(bytes)
