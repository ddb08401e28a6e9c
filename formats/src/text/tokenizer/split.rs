//! Pre-tokenizers, which cut a text into pieces. Byte-pair encoding then merges within each piece.
//!
//! Each pre-tokenizer is defined by regular expressions, which are in the comments of the functions
//! that implement it. The functions are written by hand: a general matcher with Unicode's classes
//! would take megabytes, and creating it would take longer than encoding a short prompt.

use super::{o200k::Words, unicode::Ranges};

/// The pre-tokenizers that `tokenizer.ggml.pre` can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pre {
    /// GPT-2.
    Gpt2,
    /// SmolLM: cuts out every digit, then cuts the rest as GPT-2 does.
    SmolLm,
    /// Llama 3, with at most three digits per piece, or Qwen2, with one.
    Llama3 { digits: usize },
    /// gpt-oss.
    O200k,
    /// The whole text is one piece.
    Whole,
    /// The pre-tokenizer that llama.cpp uses for files that name none: cuts out punctuation, then
    /// cuts as GPT-2 does, then cuts numbers into groups of three digits.
    Default,
}

/// The Unicode classes that decide where a text is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// `\p{L}`
    Letter,
    /// `\p{N}`
    Number,
    /// `\s`
    Space,
    Other,
}

/// A pre-tokenizer that is ready to cut texts.
pub(super) struct Splitter {
    pre: Pre,
    letters: Ranges,
    /// The characters `[\p{P}$+<=>^~|]`, or none if the pre-tokenizer doesn't need them.
    punctuation: Ranges,
    /// The words of `o200k`, if the pre-tokenizer needs them.
    words: Option<Words>,
}

impl Splitter {
    pub(super) fn new(pre: Pre) -> Self {
        let punctuation =
            if pre == Pre::Default { Ranges::of(r"[\p{P}$+<=>^~|]") } else { Ranges::NONE };
        let words = (pre == Pre::O200k).then(Words::new);
        Self { pre, letters: Ranges::of(r"\p{L}"), punctuation, words }
    }

    /// Passes the pieces of a text to `each`, from left to right. Together, the pieces are the
    /// whole text.
    pub(super) fn split<'a>(&self, text: &'a str, each: &mut dyn FnMut(&'a str)) {
        match self.pre {
            Pre::Gpt2 => pieces(text, |rest| self.gpt2(rest), each),
            Pre::Llama3 { digits } => pieces(text, |rest| self.llama3(rest, digits), each),
            Pre::O200k => pieces(text, |rest| self.llama3(rest, 3), each),
            Pre::Whole => each(text),
            Pre::SmolLm => isolate(text, char::is_numeric, 1, &mut |piece, is_digit| {
                if is_digit { each(piece) } else { pieces(piece, |rest| self.gpt2(rest), each) }
            }),
            Pre::Default => isolate(
                text,
                |c| self.punctuation.contains(c),
                usize::MAX,
                &mut |piece, is_punctuation| {
                    if is_punctuation {
                        return each(piece);
                    }
                    pieces(piece, |rest| self.gpt2(rest), &mut |piece| {
                        isolate(piece, char::is_numeric, usize::MAX, &mut |piece, is_number| {
                            if is_number { isolate_threes(piece, each) } else { each(piece) }
                        });
                    });
                },
            ),
        }
    }

    /// Returns the length of the first piece of a text, by this regular expression:
    /// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.
    fn gpt2(&self, text: &str) -> usize {
        if let Some(length) = contraction(text, false) {
            return length;
        }
        let word = text.strip_prefix(' ').unwrap_or(text);
        match word.chars().next().map(|c| self.class(c)) {
            None | Some(Class::Space) => spaces(text),
            Some(class) => text.len() - word.len() + self.run(word, class),
        }
    }

    /// Returns the length of the first piece of a text, by this regular expression for three
    /// digits:
    /// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`.
    ///
    /// In `o200k`, words are those of [`Words`], each with an optional contraction at its end, and
    /// a run of symbols may end in slashes: ` ?[^\s\p{L}\p{N}]+[\r\n/]*`.
    fn llama3(&self, text: &str, digits: usize) -> usize {
        if let Some(length) = contraction(text, true).filter(|_| self.words.is_none()) {
            return length;
        }
        let mut chars = text.chars();
        let Some(first) = chars.next() else { return 0 };
        let class = self.class(first);
        let rest = chars.as_str();
        let before = match class {
            Class::Letter => Some(0),
            Class::Number => None,
            _ => (!matches!(first, '\r' | '\n')).then(|| first.len_utf8()),
        };
        if let Some(words) = &self.words {
            let before = before.filter(|_| class != Class::Letter);
            if let Some(length) = words.first(text, before) {
                return length + contraction(&text[length..], true).unwrap_or(0);
            }
        } else if let Some(before) = before {
            let letters = self.run(&text[before..], Class::Letter);
            if letters > 0 {
                return before + letters;
            }
        }
        if class == Class::Number {
            return text
                .chars()
                .take_while(|c| c.is_numeric())
                .take(digits)
                .map(char::len_utf8)
                .sum();
        }
        let symbols = if first == ' ' { rest } else { text };
        let length = self.run(symbols, Class::Other);
        if length > 0 {
            let after = &symbols[length..];
            let strokes = self.words.is_some();
            let rest =
                after.trim_start_matches(|c| matches!(c, '\r' | '\n') || strokes && c == '/');
            return text.len() - rest.len();
        }
        // White space with a line break is cut after its last line break.
        let run = &text[..text.len() - text.trim_start().len()];
        run.rfind(['\r', '\n']).map_or_else(|| spaces(text), |at| at + 1)
    }

    /// Returns the length of the longest run of this class's characters at the start of a text.
    fn run(&self, text: &str, class: Class) -> usize {
        text.find(|c| self.class(c) != class).unwrap_or(text.len())
    }

    fn class(&self, c: char) -> Class {
        match c {
            'a'..='z' | 'A'..='Z' => Class::Letter,
            '0'..='9' => Class::Number,
            _ if c.is_whitespace() => Class::Space,
            _ if c.is_ascii() => Class::Other,
            _ if self.letters.contains(c) => Class::Letter,
            _ if c.is_numeric() => Class::Number,
            _ => Class::Other,
        }
    }
}

/// Cuts a text and passes its pieces to `each`. `first` returns the length of a text's first piece.
fn pieces<'a>(mut text: &'a str, first: impl Fn(&str) -> usize, each: &mut dyn FnMut(&'a str)) {
    while !text.is_empty() {
        let (piece, rest) = text.split_at(first(text));
        each(piece);
        text = rest;
    }
}

/// Cuts a text before and after each run of at most `longest` characters that `is` accepts. Passes
/// every piece to `each`, with a flag that is true for such a run.
fn isolate<'a>(
    mut text: &'a str,
    is: impl Fn(char) -> bool,
    longest: usize,
    each: &mut dyn FnMut(&'a str, bool),
) {
    while let Some(first) = text.chars().next() {
        let inside = is(first);
        let longest = if inside { longest } else { usize::MAX };
        let length =
            text.chars().take_while(|c| is(*c) == inside).take(longest).map(char::len_utf8).sum();
        let (piece, rest) = text.split_at(length);
        each(piece, inside);
        text = rest;
    }
}

/// Cuts a number by `[0-9][0-9][0-9]`: into groups of three digits, and whatever is between them.
fn isolate_threes<'a>(mut number: &'a str, each: &mut dyn FnMut(&'a str)) {
    while !number.is_empty() {
        let three =
            number.as_bytes().windows(3).position(|three| three.iter().all(u8::is_ascii_digit));
        let (before, rest) = number.split_at(three.unwrap_or(number.len()));
        let (group, rest) = rest.split_at(rest.len().min(3));
        for piece in [before, group] {
            if !piece.is_empty() {
                each(piece);
            }
        }
        number = rest;
    }
}

/// Returns the byte length of a contraction suffix, such as `'s` or `'re`, at the start of `text`.
/// If `any_case`, ignores case, and the letter ſ counts as an s.
fn contraction(text: &str, any_case: bool) -> Option<usize> {
    let rest = text.strip_prefix('\'')?;
    if any_case && rest.starts_with('ſ') {
        return Some(1 + 'ſ'.len_utf8());
    }
    let is = |end: &str| {
        let found = rest.as_bytes().get(..end.len());
        found.is_some_and(|found| {
            if any_case {
                found.eq_ignore_ascii_case(end.as_bytes())
            } else {
                found == end.as_bytes()
            }
        })
    };
    ["s", "t", "re", "ve", "m", "ll", "d"].iter().find(|end| is(end)).map(|end| 1 + end.len())
}

/// Returns the length of the white space at the start of a text, by `\s+(?!\S)|\s+`. The length
/// excludes the last white-space character, which belongs to the following word. White space of a
/// single character, or at the end of the text, counts in full.
fn spaces(text: &str) -> usize {
    let after = text.trim_start();
    let run = &text[..text.len() - after.len()];
    let last = run.chars().next_back().map_or(0, char::len_utf8);
    if after.is_empty() || run.len() == last { run.len() } else { run.len() - last }
}

#[cfg(test)]
mod tests {
    use super::{Pre, Splitter};

    fn split(pre: Pre, text: &str) -> Vec<&str> {
        let mut pieces = Vec::new();
        Splitter::new(pre).split(text, &mut |piece| pieces.push(piece));
        pieces
    }

    #[test]
    fn cuts_out_punctuation_and_groups_of_three_digits() {
        // The result of llama.cpp's four expressions, applied one after another: [\p{P}$+<=>^~|]+,
        // GPT-2's without its last alternative, \p{N}+, [0-9][0-9][0-9].
        let pieces = split(Pre::Default, "I'll pay $12345678 (x=1²³45)\n  ok… 一二");
        assert_eq!(
            pieces,
            [
                "I", "'", "ll", " pay", " ", "$", "123", "456", "78", " ", "(", "x", "=", "1²³45",
                ")", "\n ", " ok", "…", " 一二"
            ]
        );
    }
}
