//! id: reader-stays
//! function: Reader::take
//! says: You return the bytes but stay where you are, so that they are read again: move the position behind them.
// Not `position + n <= len`: a length that the file made up may overflow the sum.
let Some(bytes) = self.bytes[self.position..].get(..n) else {
    return Err(self.wrong(field, format!("{} bytes before the end of the file", self.remaining()), n));
};
Ok(bytes)
