//! Splits Rust code into tokens, so that code is found even if it is formatted differently.

use std::ops::Range;

use anyhow::{Result, anyhow};
use proc_macro2::TokenStream;

/// Returns the byte ranges of all tokens in `text`. Blanks and comments are not tokens. A comma
/// before a closing bracket is omitted, because rustfmt adds one when it breaks a line. If a raw
/// string begins with a line feed, it contains code in another language, and is split as well.
///
/// # Errors
/// If a string or a comment has no end, for example.
pub(super) fn tokens(text: &str) -> Result<Vec<Range<usize>>> {
    let stream: TokenStream =
        without_brackets(text).parse().map_err(|error| anyhow!("`{text}` is not Rust: {error}"))?;
    let mut found: Vec<Range<usize>> = Vec::new();
    for token in stream {
        let place = token.span().byte_range();
        let piece = &text[place.clone()];
        // A documentation comment is an attribute.
        if piece.starts_with("//") || piece.starts_with("/*") {
            continue;
        }
        if let Some(inside) = other_code(piece) {
            let [start, end] = [inside.start, inside.end].map(|at| place.start + at);
            found.push(place.start..start);
            let tokens = tokens(&piece[inside])?.into_iter();
            found.extend(tokens.map(|token| start + token.start..start + token.end));
            found.push(end..place.end);
            continue;
        }
        let closes = matches!(piece, ")" | "]" | "}");
        if closes && found.last().is_some_and(|last| &text[last.clone()] == ",") {
            found.pop();
        }
        found.push(place);
    }
    Ok(found)
}

/// Replaces each bracket by a mark of the same length, because a part of an entry may have only one
/// of two brackets. Those in `\u{fffd}` stay.
fn without_brackets(text: &str) -> String {
    let escapes = |at: usize| text[..at].ends_with(r"\u");
    let instead = |(at, c): (usize, char)| match c {
        '{' if escapes(at) => c,
        '}' if text[..at].rfind(['{', '}']).is_some_and(escapes) => c,
        '(' | ')' | '[' | ']' | '{' | '}' => '~',
        _ => c,
    };
    text.char_indices().map(instead).collect()
}

/// If `piece` is a raw string whose text begins with a line feed, returns the byte range of the
/// text.
fn other_code(piece: &str) -> Option<Range<usize>> {
    let marks = piece.strip_prefix('r')?.split('"').next()?.len();
    let (start, end) = (marks + 2, piece.len().checked_sub(marks + 1)?);
    let lines = piece.get(start..end)?;
    lines.starts_with('\n').then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::tokens;

    fn of(text: &str) -> Vec<&str> {
        tokens(text).unwrap().into_iter().map(|place| &text[place]).collect()
    }

    #[test]
    fn ignores_formatting_and_comments() {
        assert_eq!(of("f(\n    a, // the first\n    b,\n)"), of("f(a, /* x */ b)"));
        assert_eq!(of("0..=n"), of("0 ..= n"));
    }

    #[test]
    fn splits_code_in_raw_strings() {
        let text = "f(r#\"\n  let a = b[ i ]; // so\n\"#) + 1";
        let expected =
            ["f", "(", "r#\"", "let", "a", "=", "b", "[", "i", "]", ";", "\"#", ")", "+", "1"];
        assert_eq!(of(text), expected);
    }

    #[test]
    fn keeps_literals_whole() {
        assert_eq!(of("1.5e-3 - x.0"), ["1.5e-3", "-", "x", ".", "0"]);
        assert_eq!(of(r##"r#"a " b"# + "//""##), [r##"r#"a " b"#"##, "+", "\"//\""]);
        assert_eq!(of(r"['\u{fffd}', 'x']"), ["[", r"'\u{fffd}'", ",", "'x'", "]"]);
        assert_eq!(of("\"→ {ü}\" x"), ["\"→ {ü}\"", "x"]);
    }

    #[test]
    fn unclosed_string_is_an_error() {
        assert!(tokens("f(\"a)").unwrap_err().to_string().contains("`f(\"a)` is not Rust"));
    }
}
