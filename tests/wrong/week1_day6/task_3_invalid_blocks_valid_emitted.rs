//! id: invalid-blocks-valid-emitted
//! function: TextStream::push
//! says: An invalid byte must not block all that follows.
self.pending.extend_from_slice(bytes);
        let n = match str::from_utf8(&self.pending) { Ok(t) => t.len(), Err(e) => e.valid_up_to() };
        let rest = self.pending.split_off(n);
        String::from_utf8(std::mem::replace(&mut self.pending, rest)).unwrap()
