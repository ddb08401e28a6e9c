//! Unicode's classes of characters, from the tables of the `regex-syntax` crate.

use regex_syntax::{
    Parser,
    hir::{Class, HirKind},
};

/// A class of characters, as ranges in ascending order.
pub(super) struct Ranges(Vec<(char, char)>);

impl Ranges {
    /// The empty class.
    pub(super) const NONE: Self = Self(Vec::new());

    /// Returns the characters of a class, which is given as a regular expression.
    pub(super) fn of(class: &str) -> Self {
        let parsed = Parser::new().parse(class).expect("the class is written here");
        let HirKind::Class(Class::Unicode(class)) = parsed.kind() else {
            unreachable!("a class of several characters")
        };
        Self(class.ranges().iter().map(|range| (range.start(), range.end())).collect())
    }

    pub(super) fn contains(&self, c: char) -> bool {
        let after = self.0.partition_point(|(start, _)| *start <= c);
        after > 0 && c <= self.0[after - 1].1
    }
}
