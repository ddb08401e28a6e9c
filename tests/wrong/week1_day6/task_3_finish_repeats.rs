//! id: finish-repeats
//! function: TextStream::finish
//! says: What was held back comes again with a second `finish`: what is returned must leave the buffer.
        String::from_utf8_lossy(&self.pending).into_owned()
