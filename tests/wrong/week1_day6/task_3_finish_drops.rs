//! id: finish-drops
//! function: TextStream::finish
//! says: What was held back at the end vanishes; it becomes one U+FFFD.
        self.pending.clear();
        String::new()
