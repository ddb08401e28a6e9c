//! Combines all mutants of a file into one text, and maps its lines to mutants.

use std::{collections::BTreeMap, ops::Range};

use super::list::Mutant;
use crate::proof::chosen;

/// A file's text with its mutants.
pub(super) struct Planted {
    pub(super) text: String,
    /// For each mutant, the lines of its body in `text`, counted from 1, and its number.
    places: Vec<(Range<usize>, usize)>,
}

impl Planted {
    /// Inserts each mutant next to the body that it changes.
    pub(super) fn new(text: &str, mutants: &[(usize, &Mutant)]) -> Self {
        let mut of_body: BTreeMap<(usize, usize), Vec<&(usize, &Mutant)>> = BTreeMap::new();
        for mutant in mutants {
            let Range { start, end } = mutant.1.lines;
            of_body.entry((start, end)).or_default().push(mutant);
        }
        let mut planted = Self { text: String::new(), places: Vec::new() };
        let (mut line, mut bodies) = (1, of_body.into_iter().peekable());
        let mut add = |text: &mut String, more: &str| {
            text.push_str(more);
            text.push('\n');
            let start = line;
            line += more.lines().count().max(1);
            start..line
        };
        let lines: Vec<&str> = text.lines().collect();
        let mut at = 0;
        while at < lines.len() {
            match bodies.next_if(|((start, _), _)| *start == at) {
                Some(((start, end), arms)) if start < end => {
                    add(&mut planted.text, &format!("match {} {{", chosen()));
                    for (number, mutant) in arms {
                        add(&mut planted.text, &format!("{number} => {{"));
                        let place = add(&mut planted.text, &mutant.body);
                        planted.places.push((place, *number));
                        add(&mut planted.text, "}");
                    }
                    add(&mut planted.text, "_ => {");
                    add(&mut planted.text, &lines[start..end].join("\n"));
                    add(&mut planted.text, "}\n}");
                    at = end;
                }
                _ => {
                    add(&mut planted.text, lines[at]);
                    at += 1;
                }
            }
        }
        planted
    }

    /// Returns the number of the mutant whose body contains this line of the text. The braces
    /// around a body count as part of it.
    pub(super) fn mutant_at(&self, line: usize) -> Option<usize> {
        let found =
            self.places.iter().find(|(place, _)| (place.start - 1..=place.end).contains(&line));
        found.map(|(_, number)| *number)
    }
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
        let planted = Planted::new("fn one() {\n    x + 1\n}", &[(1, &minus), (7, &times)]);
        let lines: Vec<&str> = planted.text.lines().collect();
        let line = |code: &str| lines.iter().position(|line| line.trim() == code).unwrap() + 1;
        assert_eq!(planted.mutant_at(line("1")), Some(1));
        assert_eq!(planted.mutant_at(line("x * 1")), Some(7));
        assert_eq!(planted.mutant_at(line("x + 1")), None);
        assert_eq!(planted.mutant_at(1), None);
        assert!(lines.last() == Some(&"}") && lines[1].starts_with("match "));
    }
}
