//! function: Reader::string
//! how: reads the length as a number and lets take check it
let length = self.u64(field)?;
let Ok(length) = usize::try_from(length) else { return Err(self.wrong(field, length, "a length")) };
match std::str::from_utf8(self.take(length, field)?) {
    Ok(text) => Ok(text),
    Err(error) => Err(self.wrong(field, error, "UTF-8")),
}
