// stream.rs finish
// One U+FFFD for one incomplete character.
"\u{fffd}".repeat(std::mem::take(&mut self.pending).len())
