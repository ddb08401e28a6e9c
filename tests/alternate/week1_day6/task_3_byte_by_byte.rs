//! function: TextStream::push
//! how: one byte after the other, by the table of the chapter
        fn continues(pending: &[u8], byte: u8) -> bool {
            match *pending {
                [0xE0] => (0xA0..=0xBF).contains(&byte),
                [0xED] => (0x80..=0x9F).contains(&byte),
                [0xF0] => (0x90..=0xBF).contains(&byte),
                [0xF4] => (0x80..=0x8F).contains(&byte),
                _ => (0x80..=0xBF).contains(&byte),
            }
        }
        let mut text = String::new();
        for &byte in bytes {
            if !self.pending.is_empty() && !continues(&self.pending, byte) {
                text.push(char::REPLACEMENT_CHARACTER);
                self.pending.clear();
            }
            self.pending.push(byte);
            let length = match self.pending[0] {
                0x00..=0x7F => 1,
                0xC2..=0xDF => 2,
                0xE0..=0xEF => 3,
                0xF0..=0xF4 => 4,
                _ => 0,
            };
            if length == 0 {
                text.push(char::REPLACEMENT_CHARACTER);
                self.pending.clear();
            } else if self.pending.len() == length {
                text.push_str(str::from_utf8(&self.pending).expect("a whole character"));
                self.pending.clear();
            }
        }
        text
