//! Holds back text that may be the beginning of a stop text. A stop text, and everything after it,
//! is never sent.

/// The text of one answer that is held back.
#[derive(Debug, Default)]
pub(crate) struct Holdback {
    stops: Vec<String>,
    held: String,
    /// Whether a stop text has occurred.
    stopped: bool,
}

impl Holdback {
    /// Creates a holdback for an answer with the stop texts `stops`.
    pub(crate) fn new(stops: Vec<String>) -> Self {
        Self { stops, ..Self::default() }
    }

    /// Adds text. Returns the text that is now certain to be in the answer.
    pub(crate) fn push(&mut self, text: &str) -> String {
        if self.stopped {
            return String::new();
        }
        if self.stops.is_empty() {
            return text.to_owned();
        }
        self.held += text;
        if let Some(end) = self.stops.iter().filter_map(|stop| self.held.find(stop)).min() {
            self.stopped = true;
            self.held.truncate(end);
            return std::mem::take(&mut self.held);
        }
        let begins = |at: &usize| {
            let rest = &self.held[*at..];
            self.stops.iter().any(|stop| stop.starts_with(rest))
        };
        let longest = self.stops.iter().map(String::len).max().unwrap_or(0);
        let from = self.held.len().saturating_sub(longest);
        let mut places = (from..self.held.len()).filter(|&at| self.held.is_char_boundary(at));
        let end = places.find(begins).unwrap_or(self.held.len());
        let rest = self.held.split_off(end);
        std::mem::replace(&mut self.held, rest)
    }

    /// Ends the answer. Returns the text still held back. After a stop text, there is none.
    pub(crate) fn finish(&mut self) -> String {
        if self.stopped { String::new() } else { std::mem::take(&mut self.held) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(stops: &[&str], pieces: &[&str]) -> Vec<String> {
        let mut text = Holdback::new(stops.iter().map(|&stop| stop.to_owned()).collect());
        let mut out: Vec<String> = pieces.iter().map(|piece| text.push(piece)).collect();
        out.push(text.finish());
        out
    }

    #[test]
    fn never_returns_any_part_of_a_stop_text() {
        assert_eq!(through(&["END"], &["a E", "N", "D b", "c"]), ["a ", "", "", "", ""]);
        assert_eq!(through(&["aab"], &["aa", "ab", "x"]), ["", "a", "", ""]);
        assert_eq!(through(&["xyz", "b"], &["xyabz"]), ["xya", ""]);
    }

    #[test]
    fn returns_text_that_only_began_like_a_stop_text() {
        assert_eq!(through(&["END"], &["an E", "N", "T", "E"]), ["an ", "", "ENT", "", "E"]);
        assert_eq!(through(&["éa"], &["xé", "b"]), ["x", "éb", ""]);
        assert_eq!(through(&[], &["a", "b"]), ["a", "b", ""]);
    }
}
