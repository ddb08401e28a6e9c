//! id: count-off-by-one
//! function: Reader::count
//! says: A count that fills the file exactly is refused: the last thing may end where the file ends.
let count = self.u64(field)?;
let room = self.remaining() / bytes_each;
usize::try_from(count).ok().filter(|&count| count < room).ok_or_else(|| {
    self.wrong(field, format!("a count of {count}"), format!("at most {room}, for which there is room before the end of the file"))
})
