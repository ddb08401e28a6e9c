//! function: TextStream::finish
//! how: a question whether anything waits
        let waits = !self.pending.is_empty();
        self.pending.clear();
        if waits { "\u{fffd}".to_owned() } else { String::new() }
