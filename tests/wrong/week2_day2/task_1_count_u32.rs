//! id: gguf-length-u32
//! function: Reader::count
//! says: You read counts as four bytes; since version 2 every count and length has eight.
let count = u64::from(self.u32(field)?);
let room = self.remaining() / bytes_each;
usize::try_from(count).ok().filter(|&count| count <= room).ok_or_else(|| {
    self.wrong(field, format!("a count of {count}"), format!("at most {room}, for which there is room before the end of the file"))
})
