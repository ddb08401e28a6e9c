//! Combines all mutants of a file into one text, and maps its lines to mutants.

use std::{collections::BTreeMap, ops::Range};

use super::list::Mutant;
use crate::proof::chosen;

/// A comment at the start of each body, before its mutant's number. The file's own body has 0.
const MARK: &str = "// mutant ";

/// Inserts each mutant into a file's text, next to the body that it changes.
pub(super) fn planted(text: &str, mutants: &[(usize, &Mutant)]) -> String {
    let mut of_body: BTreeMap<(usize, usize), String> = BTreeMap::new();
    for (number, mutant) in mutants {
        let Range { start, end } = mutant.lines;
        let arm = format!("{number} => {{ {MARK}{number}\n{}\n}}\n", mutant.body);
        *of_body.entry((start, end)).or_default() += &arm;
    }
    let lines: Vec<&str> = text.lines().collect();
    let part = |from: usize, to: usize| lines[from..to].join("\n");
    let (mut planted, mut at) = (String::new(), 0);
    for ((start, end), arms) in of_body.into_iter().filter(|((start, end), _)| start < end) {
        let (before, body) = (part(at, start), part(start, end));
        planted +=
            &format!("{before}\nmatch {} {{\n{arms}_ => {{ {MARK}0\n{body}\n}}\n}}\n", chosen());
        at = end;
    }
    planted + &part(at, lines.len()) + "\n"
}

/// Returns the number of the mutant whose body contains this line of the text, counted from 1. The
/// braces around a body count as part of it.
pub(super) fn mutant_at(text: &str, line: usize) -> Option<usize> {
    let above: Vec<&str> = text.lines().take(line).collect();
    let (_, number) = above.iter().rev().find_map(|line| line.split_once(MARK))?;
    number.parse().ok().filter(|&number| number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curriculum::TaskId;

    #[test]
    fn mutant_at_maps_lines_to_mutants() {
        let mutant = |lines, body: &str| Mutant {
            name: String::new(),
            task: TaskId { feature: "week1-day1".to_owned(), task: 1 },
            lines,
            body: body.to_owned(),
        };
        let (minus, times) = (mutant(1..2, "    x -\n        1"), mutant(1..2, "    x * 1"));
        let text = planted("fn one() {\n    x + 1\n}", &[(1, &minus), (7, &times)]);
        let lines: Vec<&str> = text.lines().collect();
        let line = |code: &str| lines.iter().position(|line| line.trim() == code).unwrap() + 1;
        assert_eq!(mutant_at(&text, line("1")), Some(1));
        assert_eq!(mutant_at(&text, line("x * 1")), Some(7));
        assert_eq!(mutant_at(&text, line("x + 1")), None);
        assert_eq!(mutant_at(&text, 1), None);
        assert!(lines.last() == Some(&"}") && lines[1].starts_with("match "));
    }
}
