//! function: TextStream::push
//! how: the standard library's `utf8_chunks`, whose last broken chunk may still be a beginning
        self.pending.extend_from_slice(bytes);
        let held = std::mem::take(&mut self.pending);
        let mut text = String::new();
        let mut chunks = held.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text += chunk.valid();
            let broken = chunk.invalid();
            if chunks.peek().is_none() && str::from_utf8(broken).is_err_and(|error| error.error_len().is_none()) {
                self.pending = broken.to_vec();
            } else if !broken.is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
