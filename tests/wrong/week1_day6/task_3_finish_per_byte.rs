//! id: finish-per-byte
//! function: TextStream::finish
//! says: One U+FFFD for one incomplete character.
"\u{fffd}".repeat(std::mem::take(&mut self.pending).len())
