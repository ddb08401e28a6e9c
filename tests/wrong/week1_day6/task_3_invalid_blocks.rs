//! id: invalid-blocks
//! function: TextStream::push
//! says: Since a byte that begins no character, nothing is shown any more: such a byte becomes U+FFFD at once, and what follows is looked at anew.
        self.pending.extend_from_slice(bytes);
        let valid = match str::from_utf8(&self.pending) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let rest = self.pending.split_off(valid);
        String::from_utf8(std::mem::replace(&mut self.pending, rest)).expect("valid up to here")
