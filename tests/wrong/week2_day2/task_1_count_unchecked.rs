//! id: count-trusted
//! function: Reader::count
//! says: Any count is accepted: one that the rest of the file has no room for is an error, before anything is allocated for it.
let count = self.u64(field)?;
let room = usize::MAX;
let _ = bytes_each;
usize::try_from(count).ok().filter(|&count| count <= room).ok_or_else(|| {
    self.wrong(field, format!("a count of {count}"), format!("at most {room}, for which there is room before the end of the file"))
})
