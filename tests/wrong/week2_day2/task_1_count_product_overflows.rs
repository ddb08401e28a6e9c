//! id: length-overflow
//! function: Reader::count
//! says: The count times the bytes of each overflows: divide what remains instead, or use `checked_mul`.
//! shows: 2305843009213693952 things of at least 8 bytes, 16 bytes follow: this panicked: attempt to multiply with overflow
let count = self.u64(field)?;
let room = self.remaining();
usize::try_from(count).ok().filter(|&count| count * bytes_each <= room).ok_or_else(|| {
    self.wrong(field, format!("a count of {count}"), format!("at most {room}, for which there is room before the end of the file"))
})
