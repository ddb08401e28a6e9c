//! id: finish-drops
//! function: TextStream::finish
//! says: What is held back at the end becomes U+FFFD.
self.pending.clear();
        String::new()
