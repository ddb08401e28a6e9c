//! id: string-trimmed
//! function: Reader::string
//! says: White space around strings is gone; tokens begin with it, so strings stay as they are.
let length = self.count(1, field)?;
let bytes = self.take(length, field)?;
std::str::from_utf8(bytes).map(str::trim)
    .map_err(|e| self.wrong(field, format!("a byte at {} that is not UTF-8", e.valid_up_to()), "a string in UTF-8"))
