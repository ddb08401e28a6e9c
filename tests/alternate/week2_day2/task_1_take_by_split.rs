//! function: Reader::take
//! how: splits what remains
let rest = &self.bytes[self.position..];
match rest.split_at_checked(n) {
    Some((bytes, _)) => {
        self.position += n;
        Ok(bytes)
    }
    None => Err(self.wrong(field, format_args!("only {} bytes", rest.len()), format_args!("{n} bytes"))),
}
