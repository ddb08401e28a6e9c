//! id: stream-buffer-not-cleared
//! function: TextStream::push
//! says: Emit each byte once.
self.pending.extend_from_slice(bytes);
        match str::from_utf8(&self.pending) { Ok(t) => t.to_owned(), Err(e) => String::from_utf8_lossy(&self.pending[..e.valid_up_to()]).into_owned() }
