//! The words of OpenAI's `o200k` (gpt-oss), which tell capital letters from small ones. Everything
//! but words is cut as in Llama 3, up to a stroke at the end of a run of symbols.

use super::unicode::Ranges;

/// The letters that a word begins and ends with. Both classes have letters without case and marks.
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

    /// The length of the word that a text begins with, the character before its letters included:
    /// `[^\r\n\p{L}\p{N}]?UPPER*LOWER+|[^\r\n\p{L}\p{N}]?UPPER+LOWER*`, without a contraction's end.
    /// `before` is that character's length if the text begins with one.
    pub(super) fn first(&self, text: &str, before: Option<usize>) -> Option<usize> {
        let starts = [before, Some(0)];
        let mut starts = starts.into_iter().flatten();
        let ends_in_lower = starts.clone().find_map(|start| {
            let upper = start + run(&text[start..], &self.upper);
            let after = upper + run(&text[upper..], &self.lower);
            if after > upper {
                return Some(after);
            }
            // Without a small letter, one without case ends the word.
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

/// The length of the characters of a class that a text begins with.
fn run(text: &str, class: &Ranges) -> usize {
    text.find(|c| !class.contains(c)).unwrap_or(text.len())
}
