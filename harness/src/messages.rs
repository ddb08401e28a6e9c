//! Checks that error messages have the right numbers, and label each number correctly.

use std::fmt::{Debug, Display};

use crate::check::{assert_accepts, assert_refuses};

/// Asserts that `make` neither panics nor returns an error, and returns its value.
///
/// # Panics
/// If `make` panics or returns an error. The panic's message contains the original message.
#[track_caller]
pub fn assert_good<T, E: Display>(what: &str, make: impl FnOnce() -> Result<T, E>) -> T {
    assert_accepts(what, make)
        .unwrap_or_else(|e| panic!("{what}: this must be accepted, but it was refused: {e:#}"))
}

/// Asserts that `make` returns a one-line error whose message contains every text in `parts`.
///
/// # Panics
/// If it doesn't. The panic shows the error's message or the returned value.
#[track_caller]
pub fn assert_refused<T: Debug, E: Display>(
    what: &str,
    parts: &[&str],
    make: impl FnOnce() -> Result<T, E>,
) {
    match assert_refuses(what, make) {
        Ok(value) => {
            panic!("{what}: returned {value:?}, expected an error that names {}", parts.join(", "))
        }
        Err(error) => {
            let text = format!("{error:#}");
            if let Some(part) = parts.iter().find(|part| !text.contains(*part)) {
                panic!("{what}: the message should contain {part:?}, but it says\n  {text}");
            }
            let one_line = !text.contains('\n');
            assert!(one_line, "{what}: the message should be one line, but it says\n  {text}");
        }
    }
}

/// Returns the numbers in a text, as written: `a context of 12` contains `12`.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty())
}

/// Returns whether `text` contains `part`. If `part` is a number, it must not be part of a longer
/// number (120 does not contain 12). Otherwise, case is ignored.
fn says(text: &str, part: &str) -> bool {
    if part.bytes().all(|byte| byte.is_ascii_digit()) {
        numbers(text).any(|number| number == part)
    } else {
        text.to_lowercase().contains(&part.to_lowercase())
    }
}

/// Splits a message into its "found" and "expected" halves. Returns `None` if it lacks these words.
fn halves(message: &str) -> Option<(&str, &str)> {
    let (found, expected) = (message.find("found ")?, message.rfind("expected ")?);
    Some(if found < expected {
        (&message[found..expected], &message[expected..])
    } else {
        (&message[found..], &message[expected..found])
    })
}

/// Asserts that a message of the form "found …, expected …" has the texts in `found` and `expected`
/// in the right half. In a message without these words, a text may be anywhere.
///
/// # Panics
/// If a text is missing or only in the wrong half. The panic shows the message and that text.
#[track_caller]
pub fn assert_tells(what: &str, message: &str, found: &[&str], expected: &[&str]) {
    let (of_found, of_expected) = halves(message).unwrap_or((message, message));
    for (parts, half, other, name, opposite) in [
        (found, of_found, of_expected, "found", "expected"),
        (expected, of_expected, of_found, "expected", "found"),
    ] {
        for part in parts {
            let not = if says(other, part) { format!(", not {opposite}") } else { String::new() };
            assert!(
                says(half, part),
                "{what}: the message must say that {part:?} was {name}{not}\n  message  \
                 {message:?}\n  say first what was found, then what was expected"
            );
        }
    }
}

/// Asserts that a message does not swap the numbers of `a` and `b`, each a name with its number. A
/// number belongs to the nearest name before it, or if there is none, to the nearest after it.
///
/// # Panics
/// If each of the two numbers belongs to the other's name.
#[track_caller]
pub fn assert_not_exchanged(what: &str, message: &str, [a, b]: [(&str, usize); 2]) {
    let text = message.to_lowercase();
    let of = |number: usize| {
        let digits = number.to_string();
        let at = text.match_indices(&digits).map(|(at, _)| at).find(|&at| {
            let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
            !digit(text[..at].chars().next_back())
                && !digit(text[at + digits.len()..].chars().next())
        })?;
        let before = |name: &str| text[..at].rfind(name);
        let behind = |name: &str| text[at..].find(name);
        [a.0, b.0]
            .into_iter()
            .filter(|name| before(name).is_some())
            .max_by_key(|name| before(name))
            .or_else(|| {
                let names = [a.0, b.0].into_iter().filter(|name| behind(name).is_some());
                names.min_by_key(|name| behind(name))
            })
    };
    assert!(
        !(of(a.1) == Some(b.0) && of(b.1) == Some(a.0)),
        "{what}: the message swaps the two numbers: the {} is {}, the {} is {}\n  message  \
         {message:?}",
        a.0,
        a.1,
        b.0,
        b.1
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panics;

    fn passes(action: impl FnOnce()) -> bool {
        panics::catch(action).is_ok()
    }

    #[test]
    fn requires_each_part_in_its_half() {
        let message = "some.gguf: magic: found 3 bytes before the end of the file, expected 30";
        assert!(passes(|| assert_tells("", message, &["3"], &["30"])));
        assert!(!passes(|| assert_tells("", message, &["30"], &["3"])));
        assert!(!passes(|| assert_tells("", message, &["30"], &[])));
        assert!(passes(|| assert_tells("", "expected \"GGUF\", found \"PK\"", &["PK"], &["gguf"])));
        assert!(!passes(|| assert_tells(
            "",
            "expected \"PK\", found \"GGUF\"",
            &["PK"],
            &["GGUF"]
        )));
        assert!(passes(|| assert_tells("", "no 3 among 30", &["30"], &["3"])));
    }

    #[test]
    fn detects_swapped_numbers() {
        let fine = |message: &str| {
            passes(|| assert_not_exchanged("", message, [("prompt", 13), ("context", 12)]))
        };
        assert!(fine("the prompt has 13 tokens, but the context holds 12"));
        assert!(!fine("the prompt has 12 tokens, but the context holds 13"));
        assert!(fine("a context of 12 has no room for a prompt of 13"));
        assert!(!fine("a context of 13 has no room for a prompt of 12"));
        assert!(fine("13 tokens do not fit into a context of 12"));
        assert!(fine("context exceeded: the prompt has 13 tokens, the limit is 12"));
        assert!(fine("too long"));
    }
}
