//! Finds words as OpenAI's `o200k` (gpt-oss) does: where a word begins and ends depends on upper
//! and lower case. Everything except words is cut as in Llama 3, but a run of symbols may end in
//! slashes.

use super::unicode::Ranges;

/// The two classes of letters: a word begins with upper-case letters and ends with lower-case ones.
/// Both classes include marks and letters without case.
pub(super) struct Words {
    upper: Ranges,
    lower: Ranges,
}

impl Words {
    pub(super) fn new() -> Self {
        Self {
            upper: Ranges::of(r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"),
            lower: Ranges::of(r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"),
        }
    }

    /// Returns the length of the word at the start of a text, without a contraction's suffix:
    /// `[^\r\n\p{L}\p{N}]?UPPER*LOWER+|[^\r\n\p{L}\p{N}]?UPPER+LOWER*`. `before` is the length of
    /// the optional first character, if the text begins with one.
    pub(super) fn first(&self, text: &str, before: Option<usize>) -> Option<usize> {
        let starts = [before, Some(0)];
        let mut starts = starts.into_iter().flatten();
        let ends_in_lower = starts.clone().find_map(|start| {
            let upper = start + run(&text[start..], &self.upper);
            let after = upper + run(&text[upper..], &self.lower);
            if after > upper {
                return Some(after);
            }
            // If there is no lower-case letter, the word ends with the last letter that has no
            // case.
            let (at, last) =
                text[start..upper].char_indices().rfind(|(_, c)| self.lower.contains(*c))?;
            Some(start + at + last.len_utf8())
        });
        ends_in_lower.or_else(|| {
            starts.find_map(|start| match run(&text[start..], &self.upper) {
                0 => None,
                length => Some(start + length),
            })
        })
    }
}

/// Returns the length of the longest run of a class's characters at the start of a text.
fn run(text: &str, class: &Ranges) -> usize {
    text.find(|c| !class.contains(c)).unwrap_or(text.len())
}
