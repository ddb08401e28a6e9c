//! id: invalid-waits-for-next
//! function: TextStream::push
//! says: Bytes that cannot become a character are certain at once.
self.pending.extend_from_slice(bytes);
        let keep = self.pending.iter().rev().take(3).position(|&b| b >= 0xc0).map_or(0, |i| { let b = self.pending[self.pending.len() - 1 - i]; let need = if b >= 0xf0 { 4 } else if b >= 0xe0 { 3 } else { 2 }; if i + 1 < need { i + 1 } else { 0 } });
        let rest = self.pending.split_off(self.pending.len() - keep);
        let text = String::from_utf8_lossy(&self.pending).into_owned();
        self.pending = rest;
        text
