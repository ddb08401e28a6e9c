//! id: string-length
//! function: put_string
//! says: The length of a string takes eight bytes, not four.
out.extend((text.len() as u32).to_le_bytes());
out.extend(text.as_bytes());
