//! id: count-of-whole-file
//! function: Reader::count
//! says: You compare with more than what comes after the count: only that can hold the things.
let count = self.u64(field)?;
let room = self.bytes.len() / bytes_each;
usize::try_from(count).ok().filter(|&count| count <= room).ok_or_else(|| {
    self.wrong(field, format!("a count of {count}"), format!("at most {room}, for which there is room before the end of the file"))
})
