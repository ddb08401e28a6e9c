//! id: string-length
//! function: put_string
//! says: The length of a string is counted in bytes, not in characters.
out.extend((text.chars().count() as u64).to_le_bytes());
out.extend(text.as_bytes());
