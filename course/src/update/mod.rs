//! `cargo course update`: updates the course and keeps the learner's work.
//!
//! - Files under `src/week*/` are merged (`merge.rs`). If a merge fails, nothing at all is changed.
//!   If the newer course has renamed a file of tasks, the learner's work moves to the new file.
//! - All other files of the course are replaced, and files that the newer course no longer has are
//!   removed. The learner's changes in them are kept in `.course/recovery` and listed.
//! - Files that the learner added are kept.
//! - The original contents of files are known from the last update's record and from the newest
//!   commit that both courses share. Without either, every difference counts as the learner's.
//!
//! If an update is killed, it may have replaced only some files. Other commands may then find a
//! list of tasks that does not fit the reference. Running the same update again completes it
//! (`plan.rs` explains why nothing is lost).

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::{curriculum::Curriculum, git, stubs::generated};

mod changes;
mod known;
mod merge;
mod newer;
mod plan;
#[cfg(test)]
mod tests;

use known::{Known, Record};
use merge::Conflict;
use plan::Plan;

/// `cargo course update [FROM] [--dry-run]`: updates the course, or only shows the changes.
///
/// # Errors
/// If the newer course cannot be read or is invalid, or conflicts with the learner's work. Nothing
/// is changed then.
pub(crate) fn update(root: &Path, from: Option<&str>, dry_run: bool) -> Result<()> {
    let newer = newer::read(root, from)?;
    let record = Record::read(root)?;
    // Outside git, there is no history, so fewer original files are known.
    let mine = git::history(root, "HEAD").unwrap_or_default();
    if let Some(commit) = &newer.commit {
        let recorded = record
            .commit
            .as_ref()
            .map(|commit| git::history(root, commit).unwrap_or_else(|_| vec![commit.clone()]));
        if mine.contains(commit) || recorded.is_some_and(|history| history.contains(commit)) {
            println!(
                "The course in {} ({}) is not newer than yours; nothing to do.",
                newer.name,
                short(commit)
            );
            return Ok(());
        }
    }
    let mut known = Known(vec![record.files]);
    if let Some(shared) = mine.iter().find(|commit| newer.history.contains(*commit)) {
        known.0.push(git::hashes(root, shared)?);
    }
    // Ignores the list of tasks, because an interrupted update may have written the newer one.
    let present = generated(root, &Curriculum::default())
        .context("the current course cannot be read, so nothing was changed")?;
    let plan = Plan::new(root, &newer, &present, &known)?;
    if !plan.conflicts.is_empty() {
        for conflict in &plan.conflicts {
            println!("{}\n", conflict.shown());
        }
        bail!(
            "nothing was changed, because your work and the newer course conflict in the places \
             above. Where a signature differs, use the newer signature and keep your body. Make \
             your other lines there equal to the newer lines, or move them elsewhere. Then run \
             the update again"
        );
    }
    plan.carry_out(root, &newer, dry_run)
}

impl Conflict {
    fn shown(&self) -> String {
        let indented =
            |text: &str| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
        let mut shown = format!("{}.\n", self.what);
        for (title, text) in [("  yours:", &self.yours), ("  the newer course's:", &self.newer)] {
            if !text.is_empty() {
                shown += &format!("{title}\n{}", indented(text));
            }
        }
        shown
    }
}

fn short(commit: &str) -> &str {
    &commit[..commit.len().min(8)]
}
