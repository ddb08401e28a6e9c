//! id: file-endian
//! function: put_string
//! says: Numbers are little-endian: the lowest byte comes first.
out.extend((text.len() as u64).to_be_bytes());
out.extend(text.as_bytes());
