//! id: invalid-blocks
//! function: TextStream::push
//! says: Bytes that cannot become a character are U+FFFD now: waiting for them never ends.
self.pending.extend_from_slice(bytes);
        match String::from_utf8(self.pending.clone()) { Ok(t) => { self.pending.clear(); t } Err(_) => String::new() }
