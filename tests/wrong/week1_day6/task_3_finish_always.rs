//! id: finish-always
//! function: TextStream::finish
//! says: `finish` returns a U+FFFD although nothing was held back; then it returns no text.
        self.pending.clear();
        char::REPLACEMENT_CHARACTER.to_string()
