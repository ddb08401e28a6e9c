//! Plans the steps of an update and their order.
//!
//! For each file `src/X` and its `reference/src/X`, this order makes an interrupted update
//! harmless:
//!
//! 1. `src/X` is merged while `reference/src/X` is still the older version, because the merge needs
//!    that version to find the learner's changes. Running the merge again gives the same result.
//! 2. The runner's own sources are written after all other files, because a mixture of versions
//!    might not build.
//! 3. Files are removed last, including the old paths of renamed files. `src/X` is removed before
//!    `reference/src/X`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::Result;

use super::{
    changes,
    known::{Known, RECORD, Record, hash},
    merge::{Conflict, merge},
    newer::Newer,
};
use crate::{
    explain::counted,
    files::Recovery,
    replace::{Replacement, read, replace},
    stubs::{Generated, is_generated},
    template::Template,
};

#[derive(Default)]
pub(super) struct Plan {
    /// The changes, in the order in which they are made.
    pub(super) changes: Vec<Replacement>,
    /// The new path of each file of tasks that the newer course has renamed, by its old path.
    moved: BTreeMap<String, String>,
    pub(super) conflicts: Vec<Conflict>,
}

impl Plan {
    pub(super) fn new(
        root: &Path,
        newer: &Newer,
        present: &[Generated],
        known: &Known,
    ) -> Result<Self> {
        let mut plan = Self::default();
        for (path, template) in &newer.templates {
            plan.merge(newer, present, path, template, read(root, path)?);
        }
        for (path, content) in &newer.files {
            let old = read(root, path)?;
            let keep = old.as_ref().is_some_and(|old| !known.had(path, old));
            let new = Some(content.clone());
            plan.changes.push(Replacement { path: path.clone(), old, new, keep });
        }
        let mut had: BTreeSet<String> = known.paths().cloned().collect();
        for file in present {
            had.extend([file.path.clone(), format!("reference/{}", file.path)]);
        }
        for path in had.into_iter().filter(|path| !newer.has(path)) {
            let Some(old) = read(root, &path)? else { continue };
            let is_stub = present.iter().any(|file| file.path == path && file.is_stub());
            let keep = !is_stub && !known.had(&path, &old);
            plan.changes.push(Replacement { path, old: Some(old), new: None, keep });
        }
        plan.changes.retain(|change| change.old != change.new);
        plan.changes.sort_by_key(step);
        Ok(plan)
    }

    /// Plans the change of the file at `path` in `src/week*/`. `old` is its present contents.
    fn merge(
        &mut self,
        newer: &Newer,
        present: &[Generated],
        path: &str,
        template: &Template,
        old: Option<Vec<u8>>,
    ) {
        let same = present.iter().find(|file| file.path == *path && file.raw.is_some());
        let before = same.or_else(|| moved(newer, present, template));
        let new = match before.map_or_else(|| Ok(template.stub()), |file| merge(file, template)) {
            Ok(text) => text.into_bytes(),
            Err(conflicts) => return self.conflicts.extend(conflicts),
        };
        // `old` and `new` are equal if an interrupted update has written the file.
        if let Some(old) = old.as_ref().filter(|old| same.is_none() && **old != new) {
            return self.conflicts.push(Conflict {
                what: format!("{path} is yours, and the newer course has a file with that name"),
                yours: String::from_utf8_lossy(old).into_owned(),
                newer: template.stub(),
            });
        }
        if let (None, Some(file)) = (same, before) {
            self.moved.insert(file.path.clone(), path.to_owned());
        }
        self.changes.push(Replacement { path: path.into(), old, new: Some(new), keep: true });
    }

    pub(super) fn carry_out(&self, root: &Path, newer: &Newer, dry_run: bool) -> Result<()> {
        self.print(root, newer, dry_run)?;
        let files = counted(self.changes.len(), "file");
        if dry_run {
            println!("\n{files} would change; nothing was written.");
            return Ok(());
        }
        let mut recovery = Recovery::new(root);
        for changes in self.changes.chunk_by(|a, b| step(a) == step(b)) {
            replace(root, &mut recovery, changes)?;
        }
        let all = newer.files.iter().map(|(path, content)| (path.clone(), hash(content)));
        let record = Record { commit: newer.commit.clone(), files: all.collect() };
        let (old, new) = (read(root, RECORD)?, Some(record.text().into_bytes()));
        let path = RECORD.to_owned();
        replace(root, &mut recovery, &[Replacement { path, old, new, keep: false }])?;
        println!("\n{files} changed; the course now matches {}.", newer.name);
        recovery.print();
        Ok(())
    }

    fn print(&self, root: &Path, newer: &Newer, dry_run: bool) -> Result<()> {
        let verb = |change: &Replacement| match (&change.old, &change.new) {
            (None, _) => "new",
            (_, None) => "removed",
            _ if is_generated(&change.path) => "merged",
            _ => "replaced",
        };
        // Always list the files that contain tasks. The course has many other files, so only a dry
        // run lists those.
        for change in self.changes.iter().filter(|change| dry_run || is_generated(&change.path)) {
            println!("{:<9}{}", verb(change), change.path);
        }
        let is_yours = |change: &&Replacement| {
            let merged = is_generated(&change.path) && change.new.is_some();
            change.keep && !merged && !self.moved.contains_key(&change.path)
        };
        let yours: Vec<_> = self.changes.iter().filter(is_yours).collect();
        if !yours.is_empty() {
            println!(
                "\nYou have changed these files of the course. The update keeps your versions in \
                 .course/recovery:"
            );
            for change in yours {
                let gone = match change.new {
                    None => ", which the newer course no longer has",
                    Some(_) => "",
                };
                println!("  {}{gone}", change.path);
            }
        }
        if !self.moved.is_empty() {
            println!("\nThe newer course renames these files. Your work moves with them:");
            self.moved.iter().for_each(|(old, new)| println!("  {old} is now {new}"));
        }
        let of =
            |text: Option<&Vec<u8>>| text.map(|text| String::from_utf8_lossy(text).into_owned());
        let present = read(root, changes::PATH)?;
        let newer = of(newer.files.get(changes::PATH)).unwrap_or_default();
        let news = changes::new_to(&of(present.as_ref()).unwrap_or_default(), &newer);
        if !news.is_empty() {
            println!("\nChanges since your version:\n{news}");
        }
        Ok(())
    }
}

/// Returns the number of the step in which a file is replaced.
fn step(change: &Replacement) -> usize {
    let is_runners = |start: &&str| change.path.starts_with(*start);
    match &change.new {
        Some(_) if is_generated(&change.path) => 0,
        Some(_) if ["course/", "Cargo.", ".cargo/"].iter().any(is_runners) => 2,
        Some(_) => 1,
        None if is_generated(&change.path) => 3,
        None => 4,
    }
}

/// Finds the learner's file that the newer course has renamed to the file of `template`. The newer
/// course no longer has a file with the old name. The old file contains more than half of the new
/// file's functions. If there are several (kernels have the same functions), returns the most
/// similar.
fn moved<'a>(
    newer: &Newer,
    present: &'a [Generated],
    template: &Template,
) -> Option<&'a Generated> {
    let functions = |template: &Template| -> BTreeSet<String> {
        template.regions().filter_map(|region| region.function.clone()).collect()
    };
    let (new, stub) = (functions(template), template.stub());
    let holds_most = |file: &&Generated| {
        let shared = functions(&file.template).intersection(&new).count();
        2 * shared > new.len()
    };
    let other_lines = |file: &&Generated| {
        let lines: BTreeSet<&str> = file.stub.lines().collect();
        stub.lines().filter(|line| !lines.contains(line)).count()
    };
    present
        .iter()
        .filter(|file| file.raw.is_some() && !newer.has(&file.path))
        .filter(holds_most)
        .min_by_key(other_lines)
}
