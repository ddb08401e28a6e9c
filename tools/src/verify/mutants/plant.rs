//! All mutants of a file in one text, and which lines of it are whose.

use std::{collections::BTreeMap, ops::Range};

use super::list::Mutant;
use crate::bank::variants::chosen;

/// A file's text with its mutants.
pub(super) struct Planted {
    pub(super) text: String,
    /// The lines of a mutant's body, from 1, and its number.
    places: Vec<(Range<usize>, usize)>,
}

impl Planted {
    /// Puts each mutant beside the body that it changes.
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

    /// The mutant in whose body this line of the text stands; the braces around it count too.
    pub(super) fn mutant_at(&self, line: usize) -> Option<usize> {
        let found =
            self.places.iter().find(|(place, _)| (place.start - 1..=place.end).contains(&line));
        found.map(|(_, number)| *number)
    }
}
