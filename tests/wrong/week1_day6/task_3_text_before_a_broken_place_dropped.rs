//! id: text-before-broken-place-lost
//! function: TextStream::push
//! says: What stands before a broken place in the same push is lost: it is text, and comes before the U+FFFD.
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
                    let Some(invalid) = error.error_len() else {
                        text.push_str(str::from_utf8(valid).expect("valid up to here"));
                        self.pending = rest.to_vec();
                        return text;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.pending = rest[invalid..].to_vec();
                }
            }
        }
