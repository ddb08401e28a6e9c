//! id: held-back-by-first-byte
//! function: TextStream::push
//! says: C0 and FF begin no character, so nothing can complete them: they become U+FFFD at once, and do not wait.
        self.pending.extend_from_slice(bytes);
        let start = self.pending.iter().rposition(|&byte| byte & 0xC0 != 0x80).unwrap_or(0);
        let length = self.pending.get(start).map_or(0, |byte| byte.leading_ones() as usize);
        let unfinished = length > 1 && self.pending.len() - start < length;
        let rest = self.pending.split_off(if unfinished { start } else { self.pending.len() });
        String::from_utf8_lossy(&std::mem::replace(&mut self.pending, rest)).into_owned()
