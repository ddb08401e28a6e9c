//! id: count-ignores-size
//! function: Reader::count
//! says: You compare the count with the bytes that remain; each thing takes `bytes_each` of them.
let count = self.u64(field)?;
let room = {
    let _ = bytes_each;
    self.remaining()
};
usize::try_from(count).ok().filter(|&count| count <= room).ok_or_else(|| {
    self.wrong(field, format!("a count of {count}"), format!("at most {room}, for which there is room before the end of the file"))
})
