//! id: replacement-per-byte
//! function: TextStream::push
//! says: A broken place of two bytes gives you two U+FFFD; it gives one, however many bytes `error_len()` counts there, and all of them are skipped.
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
                    let Some(invalid) = error.error_len() else {
                        self.pending = rest.to_vec();
                        return text;
                    };
                    text.extend(std::iter::repeat_n(char::REPLACEMENT_CHARACTER, invalid));
                    self.pending = rest[invalid..].to_vec();
                }
            }
        }
