//! id: finish-drops
//! function: TextStream::finish
//! says: What is held back at the end becomes U+FFFD.
//! read: TODO
self.pending.clear();
        String::new()
