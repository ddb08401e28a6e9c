//! Finds tool calls in an answer's text as the text arrives. The answer is constrained, so any text
//! that begins like a call is a call.

use std::mem::take;

use tiny_llm_cli::Style;

/// A piece of an answer: text, or a part of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text for the client.
    Content(String),
    /// The start of a call of the tool with this name.
    Name(String),
    /// The next part of the call's arguments, which are JSON.
    Arguments(String),
}

/// The finder's position in the text.
#[derive(Debug, Clone)]
enum Place {
    /// At the start.
    Begin,
    /// In text after which a call may still begin.
    Text,
    /// In text after which no call can begin.
    Content,
    /// Before a call, or inside a call before its arguments begin.
    Head,
    /// In the arguments: the number of open brackets, whether the position is inside a string, and
    /// whether it follows a backslash.
    Arguments { open: usize, string: bool, escape: bool },
    /// After the arguments of the only call.
    Behind,
}

/// Finds the tool calls in one text.
#[derive(Debug, Clone)]
pub(crate) struct Finder {
    style: Style,
    /// Whether another call may follow.
    several: bool,
    place: Place,
    /// Text that has not been returned in a [`Part`] yet.
    held: String,
}

impl Finder {
    /// Creates a finder for one text. If `free`, the text need not be a call. If `several`, it may
    /// contain several calls.
    pub(crate) fn new(style: Style, free: bool, several: bool) -> Self {
        let place = if free { Place::Begin } else { Place::Head };
        Self { style, several, place, held: String::new() }
    }

    /// Adds text. Returns the parts that later text can no longer change.
    pub(crate) fn push(&mut self, text: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        self.held += text;
        while self.step(&mut parts) {}
        parts
    }

    /// Ends the text. Returns the text still held back, or nothing if it can only belong to a call.
    pub(crate) fn finish(&mut self) -> Vec<Part> {
        let held = take(&mut self.held);
        let text = matches!(self.place, Place::Begin | Place::Text | Place::Content);
        if text && !held.is_empty() { vec![Part::Content(held)] } else { Vec::new() }
    }

    /// Processes the held text up to the next change of `place`, and adds to `parts`. Returns false
    /// if more text is needed.
    fn step(&mut self, parts: &mut Vec<Part>) -> bool {
        let trigger = self.style.open.trim_end();
        match &mut self.place {
            _ if self.held.is_empty() => return false,
            Place::Begin if trigger.is_empty() => {
                let call = self.held.starts_with('{');
                self.place = if call { Place::Head } else { Place::Content };
            }
            Place::Begin => self.place = Place::Text,
            Place::Text => {
                let found = self.held.find(trigger);
                let begins = |&at: &usize| {
                    self.held.is_char_boundary(at) && trigger.starts_with(&self.held[at..])
                };
                let end = found.or_else(|| (0..self.held.len()).find(begins));
                let rest = self.held.split_off(end.unwrap_or(self.held.len()));
                let content = std::mem::replace(&mut self.held, rest);
                if !content.is_empty() {
                    parts.push(Part::Content(content));
                }
                if found.is_none() {
                    return false;
                }
                self.place = Place::Head;
            }
            Place::Content => {
                parts.push(Part::Content(take(&mut self.held)));
                return false;
            }
            Place::Head => {
                // A tool's name can't contain this string.
                let Some((head, rest)) = self.held.split_once("\"arguments\":") else {
                    return false;
                };
                let rest = rest.trim_start().to_owned();
                if rest.is_empty() {
                    return false;
                }
                let name = head.split_once("\"name\":").map_or("", |(_, name)| name);
                let name = name.split('"').nth(1).unwrap_or_default().to_owned();
                parts.push(Part::Name(name));
                self.held = rest;
                self.place = Place::Arguments { open: 0, string: false, escape: false };
            }
            Place::Arguments { open, string, escape } => {
                let mut end = None;
                for (at, byte) in self.held.bytes().enumerate() {
                    match byte {
                        _ if *escape => *escape = false,
                        b'\\' if *string => *escape = true,
                        b'"' => *string = !*string,
                        b'{' | b'[' if !*string => *open += 1,
                        b'}' | b']' if !*string => *open -= 1,
                        _ => {}
                    }
                    if *open == 0 {
                        end = Some(at + 1);
                        break;
                    }
                }
                let rest = end.map(|end| self.held.split_off(end));
                parts.push(Part::Arguments(take(&mut self.held)));
                let Some(rest) = rest else { return false };
                self.held = rest;
                // `Place::Head` skips the tags between two calls.
                self.place = if self.several { Place::Head } else { Place::Behind };
            }
            Place::Behind => {
                self.held.clear();
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{Finder, Part, Style};

    /// Returns the parts that a finder returns for a text in pieces of `letters` characters.
    fn parts(style: Style, (free, several): (bool, bool), text: &str, letters: usize) -> Vec<Part> {
        let mut finder = Finder::new(style, free, several);
        let letters: Vec<String> =
            text.chars().collect::<Vec<_>>().chunks(letters).map(|c| c.iter().collect()).collect();
        let mut parts: Vec<Part> = letters.iter().flat_map(|piece| finder.push(piece)).collect();
        parts.extend(finder.finish());
        // Joins consecutive parts of the same kind.
        parts.into_iter().fold(Vec::new(), |mut all, part| {
            match (all.last_mut(), part) {
                (Some(Part::Content(text)), Part::Content(more))
                | (Some(Part::Arguments(text)), Part::Arguments(more)) => *text += &more,
                (_, part) => all.push(part),
            }
            all
        })
    }

    fn call(name: &str, arguments: &str) -> Vec<Part> {
        vec![Part::Name(name.to_owned()), Part::Arguments(arguments.to_owned())]
    }

    #[test]
    fn finds_a_call_however_the_text_is_split() {
        let (arguments, text) = (r#"{"a": "}\"{", "b": [1, {"c": "\\"}]}"#, "Let me <too");
        for letters in 1..40 {
            let plain = format!("{{\"name\": \"get_it\", \"arguments\": {arguments}}}");
            for may in [(true, false), (false, false), (true, true), (false, true)] {
                assert_eq!(parts(Style::PLAIN, may, &plain, letters), call("get_it", arguments));
            }
            let tags = format!("<tool_call>\n{plain}\n</tool_call>");
            assert_eq!(
                parts(Style::TAGS, (false, false), &tags, letters),
                call("get_it", arguments)
            );
            let both = format!("{text}{tags}");
            let mut expected = vec![Part::Content(text.to_owned())];
            expected.extend(call("get_it", arguments));
            assert_eq!(parts(Style::TAGS, (true, false), &both, letters), expected);
        }
    }

    #[test]
    fn separates_several_calls() {
        let all = [("get_it", r#"{"name": "}\n{"}"#), ("now", "{}"), ("now", r#"{"a":{"b":[]}}"#)];
        for style in [Style::PLAIN, Style::TAGS] {
            let Style { open, close } = style;
            let texts = all.map(|(name, arguments)| {
                format!("{open}{{\"name\": \"{name}\", \"arguments\": {arguments}}}{close}")
            });
            let calls: Vec<Part> = all.iter().flat_map(|(name, with)| call(name, with)).collect();
            for letters in 1..60 {
                for free in [true, false] {
                    let text = texts.join("\n");
                    assert_eq!(parts(style, (free, true), &text, letters), calls);
                    // A line feed after the last call does not belong to any part.
                    assert_eq!(parts(style, (free, true), &(text + "\n"), letters), calls);
                }
            }
        }
    }

    #[test]
    fn returns_other_text_as_content() {
        for letters in 1..20 {
            for (style, text) in [
                (Style::PLAIN, "No: {\"name\": 1}"),
                (Style::TAGS, "a < b <tool <tool_cal"),
                (Style::TAGS, "{\"name\": \"é\"} <<<"),
            ] {
                let expected = vec![Part::Content(text.to_owned())];
                assert_eq!(parts(style, (true, true), text, letters), expected);
            }
        }
    }
}
