//! id: stream-buffer-not-cleared
//! function: TextStream::push
//! says: Text that was returned comes again with the next push: what is returned must leave the buffer.
        self.pending.extend_from_slice(bytes);
        match str::from_utf8(&self.pending) {
            Ok(valid) => valid.to_owned(),
            Err(error) => String::from_utf8_lossy(&self.pending[..error.valid_up_to()]).into_owned(),
        }
