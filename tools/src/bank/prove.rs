//! Tries the bank in the proof program that `cargo course verify` builds.

use std::{collections::BTreeSet, fmt, path::Path};

use anyhow::{Result, ensure};
use course::explain::counted;

use super::{
    Entry, Kind, command,
    matrix::{self, each},
    tree::Bank,
    unseen,
};
use crate::{
    curriculum::{Curriculum, Day},
    proof::{self, Program},
};

/// The bank's bodies and the held-out mistakes of some days, if this machine's processor can run
/// them.
pub(crate) struct Bodies {
    /// The bank: mistakes and correct alternatives.
    known: Vec<Entry>,
    /// Held-out mistakes.
    held_out: Vec<Entry>,
    /// All diagnoses of the bank. An entry's tests must not show another entry's diagnosis.
    says: Vec<String>,
}

impl fmt::Display for Bodies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (known, held_out) = (self.known.len(), self.held_out.len());
        write!(f, "{known} mistakes and alternates, {held_out} held-out mistakes")
    }
}

impl Bodies {
    /// Loads the bodies of some days.
    ///
    /// # Errors
    /// If an entry is malformed.
    pub(crate) fn of(root: &Path, curriculum: &Curriculum, days: &[&Day]) -> Result<Self> {
        let here = |entry: &Entry| {
            days.iter().any(|day| day.feature == entry.task.feature)
                && super::is_for_here(entry, curriculum)
        };
        let (mut known, mut held_out) =
            (super::load(root, curriculum)?, super::load_unseen(root, curriculum)?);
        let says = known.iter().filter_map(|entry| match &entry.kind {
            Kind::Wrong(wrong) => Some(wrong.says.clone()),
            Kind::Alternate => None,
        });
        let says = says.collect();
        known.retain(here);
        held_out.retain(here);
        Ok(Self { known, held_out, says })
    }

    /// Keeps only the bank's bodies for `tasks`, and no held-out mistakes.
    pub(crate) fn of_tasks(mut self, tasks: &BTreeSet<String>) -> Self {
        self.known.retain(|entry| tasks.contains(&entry.task.to_string()));
        self.held_out.clear();
        self
    }

    /// Keeps only `count` random bodies of the bank, selected by `seed`, and no held-out mistakes.
    pub(crate) fn sample(mut self, seed: u64, count: usize) -> Self {
        shuffle(&mut self.known, seed);
        self.known.truncate(count);
        self.held_out.clear();
        self
    }

    /// Returns the bodies' names, in the order of the numbers that [`Bodies::write`] gives them.
    pub(crate) fn names(&self) -> Vec<String> {
        self.known.iter().chain(&self.held_out).map(|entry| entry.path.clone()).collect()
    }

    /// Writes a copy of the repository to `tree`, in which all bodies can run.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn write(&self, root: &Path, curriculum: &Curriculum, tree: &Path) -> Result<()> {
        let all = [self.known.as_slice(), &self.held_out].concat();
        proof::write(root, curriculum, tree, &super::variants(curriculum, &all)?)
    }

    /// Tries the whole bank and all held-out mistakes, and compares the answers with the recorded
    /// ones. `names` are the bodies that `program` contains, in the order of their numbers.
    ///
    /// # Errors
    /// The same as for [`command::run`].
    pub(crate) fn try_all(
        &self,
        root: &Path,
        curriculum: &Curriculum,
        program: &Program,
        names: &[String],
    ) -> Result<String> {
        let bank = |entries: &[Entry]| Bank::of(program.clone(), names, entries);
        let caught = command::check(root, curriculum, bank(&self.known)?, &self.known)?;
        let held_out = unseen::check(&bank(&self.held_out)?, &self.held_out)?;
        Ok(format!("{caught}, {held_out} held-out mistakes caught"))
    }

    /// Tries the bank's bodies, without comparing their answers with the recorded ones. `names` are
    /// the bodies that `program` contains, in the order of their numbers.
    ///
    /// # Errors
    /// If no test fails with a mistake, a diagnosis is missing, or an alternative is rejected.
    pub(crate) fn try_each(&self, program: Program, names: &[String]) -> Result<String> {
        let bank = Bank::of(program, names, &self.known)?;
        let says: Vec<&str> = self.says.iter().map(String::as_str).collect();
        let problems =
            each(&self.known, |place, entry| matrix::try_one(&bank, place, entry, &says))?;
        let problems: Vec<String> = problems.into_iter().flatten().collect();
        ensure!(
            problems.is_empty(),
            "{}\n{}",
            counted(problems.len(), "problem"),
            problems.join("\n")
        );
        let wrong = self.known.iter().filter(|entry| matches!(entry.kind, Kind::Wrong(_))).count();
        let right = self.known.len() - wrong;
        Ok(format!("{wrong} mistakes caught and named, {right} correct alternates accepted"))
    }
}

/// Shuffles a list (Fisher–Yates with SplitMix64).
fn shuffle<T>(places: &mut [T], seed: u64) {
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    for at in (1..places.len()).rev() {
        places.swap(at, (random() % (at as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffle_depends_only_on_the_seed() {
        let draw = |seed| {
            let mut places: Vec<usize> = (0..100).collect();
            shuffle(&mut places, seed);
            places
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        let mut sorted = draw(7);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    }
}
