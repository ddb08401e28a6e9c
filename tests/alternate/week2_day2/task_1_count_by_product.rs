//! function: Reader::count
//! how: multiplies with checked_mul, in u64
let count = self.u64(field)?;
match count.checked_mul(bytes_each as u64) {
    Some(bytes) if bytes <= self.remaining() as u64 => Ok(count as usize),
    _ => Err(self.wrong(field, format!("{count} of at least {bytes_each} bytes"), format!("room in {} bytes", self.remaining()))),
}
