//! id: string-zero
//! function: put_string
//! says: There is no zero byte at the end of a string: its length says where it ends.
out.extend((text.len() as u64).to_le_bytes());
out.extend(text.as_bytes());
out.push(0);
