//! Describes the differences between two answers that are too long to print.

use crate::tolerance::Tolerance;
use tiny_llm_formats::Tensor;

/// Maximum length of a row that is printed. Longer rows are described.
pub(crate) const READABLE: usize = 12;
/// Minimum length of a run of correct elements that is reported. Shorter runs occur by chance.
const RUN: usize = 8;
/// Maximum length in bytes of a list that is printed completely.
const SHORT: usize = 120;
/// Maximum number of wrong rows that a message lists completely. A longer list is shortened.
const SOME: usize = 6;
/// Maximum number of differences that are named one by one.
const NAMED: usize = 4;

/// Describes where tensors with rows longer than [`READABLE`] differ: the first element that
/// differs, and the columns that are right in all rows, if these are few ranges.
pub(crate) fn places(found: &Tensor, expected: &Tensor, tolerance: Tolerance) -> Option<String> {
    let width = *expected.shape().last()?;
    if width <= READABLE {
        return None;
    }
    let wrong = || {
        found
            .iter()
            .zip(expected)
            .enumerate()
            .filter(|(_, (x, y))| !tolerance.allows(**x, **y))
            .map(|(at, _)| at)
    };
    let mut rest = wrong().next()?;
    let mut first = vec![0; expected.ndim()];
    for (index, length) in first.iter_mut().zip(expected.shape()).rev() {
        (*index, rest) = (rest % length, rest / length);
    }
    let mut right = vec![true; width];
    wrong().for_each(|at| right[at % width] = false);
    right.chunks_mut(RUN).for_each(|run| {
        let all = run.iter().all(|&right| right);
        run.fill(all);
    });
    let repeats = |period: &usize| {
        width.is_multiple_of(*period) && (0..width).all(|i| right[i] == right[i % period])
    };
    let period = [32, 64, 128, 256]
        .into_iter()
        .filter(|&period| period < width)
        .find(repeats)
        .unwrap_or(width);
    let starts = (0..period).filter(|&i| right[i] && (i == 0 || !right[i - 1]));
    let ranges: Vec<_> = starts
        .map(|i| format!("{i}–{}", (i..period).find(|&end| !right[end]).unwrap_or(period) - 1))
        .collect();
    let mut text = format!("first difference at {first:?}");
    if (1..=RUN).contains(&ranges.len()) {
        let of = if period < width { format!(" of each group of {period}") } else { String::new() };
        let rows = if expected.len() > width { " in every row" } else { "" };
        text += &format!("; elements {}{of} are right{rows}", ranges.join(", "));
    }
    Some(text)
}

/// Joins the entries of `wrong`. If they are many, lists only some, after their number and `all`.
pub(crate) fn some_of(wrong: &[String], all: usize) -> String {
    if wrong.len() <= SOME {
        return wrong.join(", ");
    }
    let which = if wrong.len() == all { "all".to_owned() } else { wrong.len().to_string() };
    format!("{which} of {all}: {}, …", wrong[..SOME - 2].join(", "))
}

/// Returns the lines in which two answers differ. Each answer has at least three lines.
pub(crate) fn of_lines(found: &str, expected: &str) -> Option<String> {
    let (x, y): (Vec<&str>, Vec<&str>) = (found.lines().collect(), expected.lines().collect());
    if y.len() < 3 || x.len() != y.len() {
        return None;
    }
    let differ: Vec<_> = x.iter().zip(&y).filter(|(x, y)| x != y).collect();
    let lines: String = differ
        .iter()
        .map(|(x, y)| format!("\n  found    {}\n  expected {}", x.trim(), y.trim()))
        .collect();
    let (right, right_are) = (
        y.len() - 1 - differ.len(),
        if y.len() == differ.len() + 2 { "other is" } else { "others are" },
    );
    Some(if right > 0 { format!("{lines}\n  {right} {right_are} right") } else { lines })
}

/// Describes the differences between long lists in Rust's debug format: entry by entry if they are
/// equally long, otherwise as missing and extra entries. Returns `None` if both lists are short, if
/// all expected entries are numbers, or if there is nothing to list.
pub(crate) fn of_lists(found: &str, expected: &str) -> Option<String> {
    let (x, y) = (entries(found)?, entries(expected)?);
    if found.len().max(expected.len()) <= SHORT
        || y.iter().all(|entry| entry.parse::<f64>().is_ok())
    {
        return None;
    }
    let named = |lines: Vec<String>, more: &str| {
        let rest = lines.len().saturating_sub(NAMED);
        let more = if rest > 0 { more.replace("{}", &rest.to_string()) } else { String::new() };
        (lines.into_iter().take(NAMED).collect::<Vec<_>>(), more)
    };
    if x.len() == y.len() {
        let pairs = x.iter().zip(&y).enumerate().filter(|(_, (x, y))| x != y);
        let lines = pairs
            .map(|(i, (x, y))| format!("\n  entry {i}\n    found    {x}\n    expected {y}"))
            .collect();
        let (lines, more) = named(lines, "\n  and {} more entries differ");
        return Some(lines.concat() + &more);
    }
    let lacking = |a: &[&str], b: &[&str]| {
        a.iter().filter(|entry| !b.contains(entry)).map(|entry| (*entry).to_owned()).collect()
    };
    let (missing, extra): (Vec<String>, Vec<String>) = (lacking(&y, &x), lacking(&x, &y));
    let line = |what: &str, entries: Vec<String>| {
        if entries.is_empty() {
            return String::new();
        }
        let (entries, more) = named(entries, " and {} more");
        format!("\n  {what}  {}{more}", entries.join(", "))
    };
    let text = line("missing ", missing) + &line("too many", extra);
    (!text.is_empty()).then(|| format!("\n  found {} entries, expected {}{text}", x.len(), y.len()))
}

/// Splits a list in Rust's debug format into its entries.
fn entries(list: &str) -> Option<Vec<&str>> {
    let inside = list.strip_prefix('[')?.strip_suffix(']')?;
    let (mut depth, mut quoted, mut escaped, mut start) = (0, false, false, 0);
    let mut entries = Vec::new();
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth -= 1,
            ',' if depth == 0 => {
                entries.push(inside[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    entries.push(inside[start..].trim());
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiny_llm_formats::tensor::tensor;

    #[test]
    fn names_correct_columns_by_their_pattern() {
        let expected = tensor(&[2, 128], (0..256).map(|i| i as f32).collect());
        let mut found = expected.clone();
        for (at, x) in found.iter_mut().enumerate() {
            // A single wrong value in a group of three is not a pattern.
            if at / 16 % 2 == 1 && at % 3 > 0 {
                *x = -1.0;
            }
        }
        let said = |found: &Tensor| places(found, &expected, Tolerance::Absolute(0.0));
        assert_eq!(
            said(&found).as_deref(),
            Some(
                "first difference at [0, 16]; elements 0–15 of each group of 32 are right in every \
                 row"
            )
        );
        assert_eq!(said(&expected), None);
        assert_eq!(said(&(&expected + 1.0)).as_deref(), Some("first difference at [0, 0]"));
        found[[1, 100]] = 0.5;
        assert_eq!(
            said(&found).as_deref(),
            Some(
                "first difference at [0, 16]; elements 0–15, 32–47, 64–79, 104–111 are right in \
                 every row"
            )
        );
    }

    #[test]
    fn of_lines_returns_only_the_lines_that_differ() {
        assert_eq!(
            of_lines("\n    a: 1\n    b: 3\n    c: 4", "\n    a: 1\n    b: 2\n    c: 4").as_deref(),
            Some("\n  found    b: 3\n  expected b: 2\n  2 others are right")
        );
        assert_eq!(of_lines("\n    a: 1", "\n    a: 1\n    b: 2"), None);
        assert_eq!(of_lines("one line", "another"), None);
    }

    #[test]
    fn of_lists_returns_only_the_entries_that_differ() {
        let list = |entries: &[&str]| format!("{entries:?}");
        let long = "a long entry, with [a \"bracket\" that is not closed; it stands for one of \
                    many in a list that is too long to be read";
        let expected = list(&["a", long, "c", "d"]);
        assert_eq!(
            of_lists(&list(&["a", long, "C", "d"]), &expected).as_deref(),
            Some("\n  entry 2\n    found    \"C\"\n    expected \"c\"")
        );
        assert_eq!(
            of_lists(&list(&["a", long, "d"]), &expected).as_deref(),
            Some("\n  found 3 entries, expected 4\n  missing   \"c\"")
        );
        assert!(
            of_lists(&list(&["a", long, "c", "d", "e"]), &expected)
                .is_some_and(|text| text.ends_with("too many  \"e\""))
        );
        assert_eq!(of_lists("[1]", "[2, 3]"), None);
        assert_eq!(of_lists("a text", &expected), None);
    }
}
