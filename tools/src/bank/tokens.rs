//! Splits Rust code into tokens, so that code is found even if it is formatted differently.

use std::ops::Range;

/// Returns the byte ranges of all tokens in `text`. Blanks and comments are not tokens. A comma
/// before a closing bracket is omitted, because rustfmt adds one when it breaks a line. If a raw
/// string begins with a line feed, it contains code in another language, and is split as well.
pub(super) fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let length = length_of(&text[at..]);
        let piece = &text[at..at + length];
        if let Some(inside) = other_code(piece) {
            let all = [0..inside.start, inside.end..length];
            let [opening, closing] = all.map(|part| at + part.start..at + part.end);
            found.push(opening);
            let tokens = tokens(&piece[inside.clone()]).into_iter();
            let start = at + inside.start;
            found.extend(tokens.map(|token| start + token.start..start + token.end));
            found.push(closing);
        } else if !piece.starts_with(char::is_whitespace) && !is_comment(piece) {
            let closes = matches!(piece, ")" | "]" | "}");
            if closes && found.last().is_some_and(|last| &text[last.clone()] == ",") {
                found.pop();
            }
            found.push(at..at + length);
        }
        at += length;
    }
    found
}

/// If `piece` is a raw string whose text begins with a line feed, returns the byte range of the
/// text.
fn other_code(piece: &str) -> Option<Range<usize>> {
    let marks = piece.strip_prefix('r')?.split('"').next()?.len();
    let (start, end) = (marks + 2, piece.len().checked_sub(marks + 1)?);
    let lines = piece.get(start..end)?;
    lines.starts_with('\n').then_some(start..end)
}

fn is_comment(piece: &str) -> bool {
    piece.starts_with("//") || piece.starts_with("/*")
}

/// Returns the length in bytes of the blank, comment or token at the beginning of a text, which
/// must not be empty.
fn length_of(text: &str) -> usize {
    const MARKS: [&str; 23] = [
        "..=", "<<=", ">>=", "::", "->", "=>", "..", "+=", "-=", "*=", "/=", "%=", "^=", "&=",
        "|=", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>",
    ];
    let first = text.chars().next().unwrap_or_default();
    if first.is_whitespace() {
        return text.find(|c: char| !c.is_whitespace()).unwrap_or(text.len());
    }
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return text.find("*/").map_or(text.len(), |end| end + 2);
    }
    if let Some(length) = length_of_literal(text) {
        return length;
    }
    if is_word(first) {
        return length_of_word(text);
    }
    MARKS.iter().find(|mark| text.starts_with(**mark)).map_or(first.len_utf8(), |mark| mark.len())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length of the name or number at the beginning of `text`, such as `1.5e-3`. For
/// `0..n` and for `0.abs()`, only the `0` counts.
fn length_of_word(text: &str) -> usize {
    let word = |text: &str| text.find(|c| !is_word(c)).unwrap_or(text.len());
    let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let mut length = word(text);
    if digit(text) {
        if let Some(fraction) = text[length..].strip_prefix('.').filter(|rest| digit(rest)) {
            length += 1 + word(fraction);
        }
        let exponent = text[..length].ends_with(['e', 'E']) && !text.starts_with("0x");
        if let Some(digits) =
            text[length..].strip_prefix(['+', '-']).filter(|rest| exponent && digit(rest))
        {
            length += 1 + word(digits);
        }
    }
    length
}

/// If `text` begins with a string, byte string, raw string, character or lifetime, returns its
/// length.
fn length_of_literal(text: &str) -> Option<usize> {
    let unprefixed =
        text.strip_prefix('b').filter(|rest| rest.starts_with(['"', '\'', 'r'])).unwrap_or(text);
    let prefix = text.len() - unprefixed.len();
    if let Some(raw) = unprefixed.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let inside = raw[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let opening = prefix + 1 + hashes + 1;
        return Some(inside.find(&end).map_or(text.len(), |at| opening + at + end.len()));
    }
    let quote = unprefixed.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inside = &unprefixed[1..];
    let mut escaped = false;
    let end = inside.char_indices().find(|&(_, c)| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    let end = end.map(|(at, _)| at);
    if quote == '\'' {
        // `'a'` is a character, `'a` a lifetime.
        let character =
            end.filter(|&at| inside.starts_with('\\') || inside[..at].chars().count() == 1);
        return Some(
            prefix + character.map_or_else(|| 1 + length_of_word(inside).max(1), |at| 1 + at + 1),
        );
    }
    Some(prefix + end.map_or(unprefixed.len(), |at| 1 + at + 1))
}

#[cfg(test)]
mod tests {
    use super::tokens;

    fn of(text: &str) -> Vec<&str> {
        tokens(text).into_iter().map(|place| &text[place]).collect()
    }

    #[test]
    fn ignores_formatting_and_comments() {
        assert_eq!(of("f(\n    a, // the first\n    b,\n)"), of("f(a, /* x */ b)"));
        assert_eq!(of("a<=b&&!c"), ["a", "<=", "b", "&&", "!", "c"]);
        assert_eq!(of("0..=n"), ["0", "..=", "n"]);
    }

    #[test]
    fn splits_code_in_raw_strings() {
        let text = "f(r#\"\n  let a = b[ i ]; // so\n\"#) + 1";
        let expected =
            ["f", "(", "r#\"", "let", "a", "=", "b", "[", "i", "]", ";", "\"#", ")", "+", "1"];
        assert_eq!(of(text), expected);
    }

    #[test]
    fn keeps_numbers_and_literals_whole() {
        assert_eq!(of("1.5e-3 - x.0.abs()"), ["1.5e-3", "-", "x", ".", "0", ".", "abs", "(", ")"]);
        assert_eq!(of("1e-1"), ["1e-1"]);
        assert_eq!(
            of(r##"r#"a " b"# + b"\"//" + '\'' + 'x'"##),
            [r##"r#"a " b"#"##, "+", r#"b"\"//""#, "+", r"'\''", "+", "'x'"]
        );
        assert_eq!(of("r\"a b\""), ["r\"a b\""]);
        assert_eq!(of("&'a str"), ["&", "'a", "str"]);
        assert_eq!(of("\"→ ü\"x"), ["\"→ ü\"", "x"]);
    }
}
