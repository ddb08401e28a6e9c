//! id: finish-repeats
//! function: TextStream::finish
//! says: What was held back comes once.
String::from_utf8_lossy(&self.pending).into_owned()
