//! id: unfinished-dropped
//! function: TextStream::push
//! says: The first bytes of an unfinished character are lost, so the rest of it finds no beginning: keep them until the next push.
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
                        self.pending.clear();
                        return text;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.pending = rest[invalid..].to_vec();
                }
            }
        }
