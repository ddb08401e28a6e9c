//! function: TextStream::push
//! how: the longest tail that is a beginning waits, the rest is decoded with loss
        self.pending.extend_from_slice(bytes);
        let n = self.pending.len();
        let is_beginning = |tail: &[u8]| str::from_utf8(tail).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none());
        let held = (1..=3.min(n)).rev().find(|&k| is_beginning(&self.pending[n - k..])).unwrap_or(0);
        let rest = self.pending.split_off(n - held);
        let text = String::from_utf8_lossy(&self.pending).into_owned();
        self.pending = rest;
        text
