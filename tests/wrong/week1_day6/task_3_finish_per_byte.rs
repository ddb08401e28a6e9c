//! id: finish-per-byte
//! function: TextStream::finish
//! says: Each byte that was held back becomes a U+FFFD of its own; they are the beginning of one character, and become one.
        std::mem::take(&mut self.pending).iter().map(|_| char::REPLACEMENT_CHARACTER).collect()
