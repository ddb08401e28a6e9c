//! id: broken-not-skipped
//! function: TextStream::push
//! says: After a broken place you look at the same bytes again, for ever: skip as many as `error_len()` says.
//! shows: each round of a loop must take bytes out of `pending`
        self.pending.extend_from_slice(bytes);
        let mut text = String::new();
        loop {
            match str::from_utf8(&self.pending) {
                Ok(valid) => {
                    text.push_str(valid);
                    self.pending.clear();
                    return text;
                }
                Err(error) => {
                    let (valid, rest) = self.pending.split_at(error.valid_up_to());
                    text.push_str(str::from_utf8(valid).expect("valid up to here"));
                    let Some(_) = error.error_len() else {
                        self.pending = rest.to_vec();
                        return text;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.pending = rest.to_vec();
                }
            }
        }
