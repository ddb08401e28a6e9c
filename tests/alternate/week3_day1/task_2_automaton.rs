//! function: StopTexts::push
//! how: byte by byte, so that the tail never holds more than the longest text
        let Some(longest) = self.texts.iter().map(Vec::len).max() else { return false };
        let mut found = false;
        for &byte in bytes {
            self.tail.push(byte);
            found |= self.texts.iter().any(|text| self.tail.ends_with(text));
            if self.tail.len() == longest {
                self.tail.remove(0);
            }
        }
        found
