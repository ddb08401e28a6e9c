//! id: byte-order
//! function: Reader::number
//! says: The bytes of each number come in reverse: the file is little-endian, so they stand in the order that `from_le_bytes` wants.
let mut bytes: [u8; N] = self.take(N, field)?.try_into().expect("as many as were asked for");
bytes.reverse();
Ok(bytes)
