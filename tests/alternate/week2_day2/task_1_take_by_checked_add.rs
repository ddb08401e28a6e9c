//! function: Reader::take
//! how: computes the end with checked_add
let end = self.position.checked_add(n).filter(|&end| end <= self.bytes.len());
let end = end.ok_or_else(|| self.wrong(field, self.remaining(), format!("{n} more bytes")))?;
let start = std::mem::replace(&mut self.position, end);
Ok(&self.bytes[start..end])
