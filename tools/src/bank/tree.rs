//! Runs tests with the bodies of some entries, in a proof program.

use std::{collections::HashMap, path::Path, process::Command};

use anyhow::{Context, Result};

use super::{Entry, Kind, by_luck};
use crate::{
    curriculum::{Curriculum, Day},
    libtest::task_of_test,
    processor::Emulation,
    proof::{self, Program, VARIANT},
};

/// A proof program with the bodies of some entries.
#[derive(Debug)]
pub(super) struct Bank {
    program: Program,
    /// For each entry, the number that selects its body in the program.
    numbers: Vec<usize>,
}

impl Bank {
    /// Finds the bodies of `entries` in `program`. Body number `i` of the program is the one of the
    /// entry `names[i − 1]`.
    ///
    /// # Errors
    /// If the program lacks an entry.
    pub(super) fn of(program: Program, names: &[String], entries: &[Entry]) -> Result<Self> {
        let all: HashMap<&str, usize> = names.iter().map(String::as_str).zip(1..).collect();
        let number = |entry: &Entry| {
            let number = all.get(entry.path.as_str()).copied();
            number.with_context(|| {
                format!("{}: the program was built without this entry", entry.path)
            })
        };
        let numbers = entries.iter().map(number).collect::<Result<_>>()?;
        Ok(Self { program, numbers })
    }

    /// Builds a proof program with the entries' bodies and the tests of their days.
    ///
    /// # Errors
    /// If something does not compile.
    pub(super) fn build(
        root: &Path,
        curriculum: &Curriculum,
        entries: &[Entry],
        emulation: Option<Emulation>,
    ) -> Result<Self> {
        let tree = root.join("target/verify/proof");
        proof::write(root, curriculum, &tree, &super::variants(curriculum, entries)?)?;
        let with_entries =
            |day: &&Day| entries.iter().any(|entry| entry.task.feature == day.feature);
        let days: Vec<_> = curriculum.days().filter(with_entries).collect();
        let program = Program::build(root, &tree, &days, emulation)?;
        Ok(Self { program, numbers: (1..=entries.len()).collect() })
    }

    /// Returns a command that runs the tests for `entry`, whose index is `place`: all tests of its
    /// day for a correct body, and only its task's tests for a wrong body.
    pub(super) fn tests(&self, entry: &Entry, place: usize) -> Result<Command> {
        let wanted = |name: &str| match entry.kind {
            Kind::Alternate => task_of_test(name).is_some(),
            Kind::Wrong(_) => {
                task_of_test(name) == Some(entry.task.task)
                    && !by_luck(entry).iter().any(|test| name.contains(test.as_str()))
            }
        };
        let command = self.program.tests(&module(entry), wanted);
        let command = command.with_context(|| format!("{}: its task has no test", entry.path))?;
        Ok(chosen(command, self.numbers[place]))
    }

    /// Returns a command that answers a grading's questions for the day `module`. It runs the body
    /// of the entry at index `place`, or the reference if `place` is `None`.
    pub(super) fn fresh(&self, module: &str, place: Option<usize>) -> Result<Command> {
        let command = self.program.fresh(module);
        let number = place.map_or(0, |place| self.numbers[place]);
        Ok(chosen(
            command.with_context(|| format!("{module} has no fresh inputs for grading"))?,
            number,
        ))
    }

    /// Returns the folder of the copy in which the program was built.
    pub(super) fn tree(&self) -> &Path {
        self.program.tree()
    }
}

/// Returns the module of an entry's day, such as `week1_day3`.
pub(super) fn module(entry: &Entry) -> String {
    entry.task.feature.replace('-', "_")
}

fn chosen(mut command: Command, number: usize) -> Command {
    // Entries run in parallel, but each runs its tests one after the other, so that answers always
    // come in the same order.
    command.env(VARIANT, number.to_string()).env("RUST_TEST_THREADS", "1");
    command
}
