//! id: all-or-nothing
//! function: TextStream::push
//! says: You return nothing until all held bytes are valid; only an unfinished character waits, and what stands before it comes at once.
        self.pending.extend_from_slice(bytes);
        match String::from_utf8(std::mem::take(&mut self.pending)) {
            Ok(text) => text,
            Err(error) => {
                self.pending = error.into_bytes();
                String::new()
            }
        }
