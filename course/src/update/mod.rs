//! `cargo course update`: brings a newer course under a learner's work.
//!
//! - Files under `src/week*/` are merged (`merge.rs`); where that cannot keep both, nothing at all
//!   is changed. A file of tasks that the newer course has under another name takes its work along.
//! - Every other file of the course becomes the newer one. One that the learner had changed is kept
//!   in `.course/recovery` and named.
//! - Files that the learner added stay. What the newer course no longer has goes if it is as the
//!   course had it; else it stays and is named. The reference alone must be as the newer course has
//!   it, or the runner could not read it: what is in the way there is kept in recovery.
//! - "As the course had it" is known from the last update's record and from the newest commit that
//!   both courses share. Without either, every difference counts as the learner's.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{
    curriculum::Curriculum,
    json::{self, Json},
    source::normalise,
    stubs::{Generated, generated},
    template::Template,
    transaction::{Transaction, hash},
};

mod changes;
mod git;
mod merge;
mod newer;
#[cfg(test)]
mod tests;

use merge::{Conflict, merge};
use newer::{Newer, is_generated};

/// What the last update brought.
const RECORD: &str = ".course/course.json";

#[derive(Debug, Default)]
struct Record {
    /// The newer course's commit, if it had one.
    commit: Option<String>,
    /// Path → hash of every file.
    files: BTreeMap<String, String>,
}

impl Record {
    fn parse(text: &[u8]) -> Result<Self> {
        let file: Value = serde_json::from_slice(text)?;
        let mut files = BTreeMap::new();
        for (path, hash) in json::fields(&file["files"])? {
            let hash = hash.as_str().with_context(|| format!("{path} has no hash"))?;
            files.insert(path.clone(), hash.to_owned());
        }
        Ok(Self { commit: json::optional_text(&file, "commit")?.map(str::to_owned), files })
    }

    fn text(&self) -> String {
        let files = self.files.iter().map(|(path, hash)| (path.clone(), Json::text(hash)));
        let commit = ("commit", Json::optional(self.commit.as_deref()));
        Json::object([commit, ("files", Json::Object(files.collect()))]).to_string()
    }
}

/// `cargo course update [FROM] [--dry-run]`.
///
/// # Errors
/// If the newer course cannot be read or is not sound, or if the learner's work and it cannot both
/// be kept: then nothing is changed.
pub(crate) fn update(
    root: &Path,
    curriculum: &Curriculum,
    from: Option<&str>,
    dry_run: bool,
) -> Result<()> {
    let newer = newer::read(root, from)?;
    let record = read_record(root)?;
    // Outside git there is no history, which only means that less is known.
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
    let mut known = vec![record.files];
    if let Some(shared) = mine.iter().find(|commit| newer.history.contains(*commit)) {
        known.push(git::hashes(root, shared)?);
    }
    let present = generated(root, curriculum)
        .context("the present course cannot be read, so nothing was changed")?;
    let plan = Plan::new(root, &newer, &present, &known)?;
    if !plan.conflicts.is_empty() {
        for conflict in &plan.conflicts {
            println!("{}\n", conflict.shown());
        }
        bail!(
            "nothing was changed. Your work and the newer course meet in the places above. Give \
             your function the newer signature (its body stays), or make your lines there equal to \
             the newer ones, or move them elsewhere; then run the update again"
        );
    }
    plan.carry_out(root, &newer, dry_run)
}

fn read_record(root: &Path) -> Result<Record> {
    match fs::read(root.join(RECORD)) {
        Ok(text) => Record::parse(&text)
            .with_context(|| format!("{RECORD} is malformed; remove it if it cannot be mended")),
        Err(_) => Ok(Record::default()),
    }
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

/// A file to be written, or removed.
struct Change {
    path: String,
    old: Option<Vec<u8>>,
    new: Option<Vec<u8>>,
    /// Whether the old content may be the learner's.
    keep: bool,
}

#[derive(Default)]
struct Plan {
    changes: Vec<Change>,
    /// Files of the course that the learner had changed.
    yours: Vec<String>,
    /// Files that the newer course no longer has, and that the learner had changed.
    stay: Vec<String>,
    /// Files of tasks that have another name in the newer course: the old one and the new one.
    moved: Vec<(String, String)>,
    conflicts: Vec<Conflict>,
}

impl Plan {
    /// `known`: what the course is known to have had, path → hash.
    fn new(
        root: &Path,
        newer: &Newer,
        present: &[Generated],
        known: &[BTreeMap<String, String>],
    ) -> Result<Self> {
        let mut plan = Self::default();
        plan.generated(newer, present, |path| read(root, path))?;
        let as_course_had_it = |path: &str, content: &[u8]| {
            let unix = str::from_utf8(content).map(|text| hash(normalise(text).as_bytes()));
            let hashes = [Some(hash(content)), unix.ok()];
            known
                .iter()
                .filter_map(|files| files.get(path))
                .any(|known| hashes.iter().flatten().any(|hash| hash == known))
        };
        for (path, content) in &newer.files {
            let old = read(root, path)?;
            if old.as_ref() == Some(content) {
                continue;
            }
            let keep = old.as_ref().is_some_and(|old| !as_course_had_it(path, old));
            if keep {
                plan.yours.push(path.clone());
            }
            plan.changes.push(Change { path: path.clone(), old, new: Some(content.clone()), keep });
        }
        let reference = present.iter().map(|file| format!("reference/{}", file.path));
        let had = known.iter().flat_map(|files| files.keys().cloned()).chain(reference);
        let mut gone: Vec<String> =
            had.filter(|path| !newer.files.contains_key(path) && !is_generated(path)).collect();
        gone.sort();
        gone.dedup();
        for path in gone {
            let Some(old) = read(root, &path)? else { continue };
            let unchanged = as_course_had_it(&path, &old);
            if unchanged || path.starts_with("reference/") {
                if !unchanged {
                    plan.yours.push(path.clone());
                }
                plan.changes.push(Change { path, old: Some(old), new: None, keep: !unchanged });
            } else {
                plan.stay.push(path);
            }
        }
        Ok(plan)
    }

    /// The files under `src/week*/`.
    fn generated(
        &mut self,
        newer: &Newer,
        present: &[Generated],
        read: impl Fn(&str) -> Result<Option<Vec<u8>>>,
    ) -> Result<()> {
        for (path, template) in &newer.templates {
            let old = read(path)?;
            let same = present.iter().find(|file| file.path == *path);
            let other = if old.is_none() { moved(newer, present, template) } else { None };
            if let (None, Some(file)) = (same, other) {
                self.moved.push((file.path.clone(), path.clone()));
            }
            let merged = match same.or(other) {
                Some(file) => merge(file, template),
                None if old.as_ref().is_none_or(|old| *old == template.stub().into_bytes()) => {
                    Ok(template.stub())
                }
                None => Err(vec![Conflict {
                    what: format!("{path} is yours, and the newer course has a file of that name"),
                    yours: String::from_utf8_lossy(&old.clone().unwrap_or_default()).into_owned(),
                    newer: template.stub(),
                }]),
            };
            match merged {
                Ok(text) if old.as_deref() == Some(text.as_bytes()) => {}
                Ok(text) => self.changes.push(Change {
                    path: path.clone(),
                    old,
                    new: Some(text.into_bytes()),
                    keep: true,
                }),
                Err(conflicts) => self.conflicts.extend(conflicts),
            }
        }
        for file in present.iter().filter(|file| is_gone(newer, file)) {
            let Some(raw) = &file.raw else { continue };
            if file.is_stub() || self.moved.iter().any(|(old, _)| *old == file.path) {
                let old = Some(raw.clone().into_bytes());
                self.changes.push(Change { path: file.path.clone(), old, new: None, keep: true });
            } else {
                self.stay.push(file.path.clone());
            }
        }
        Ok(())
    }

    fn carry_out(mut self, root: &Path, newer: &Newer, dry_run: bool) -> Result<()> {
        // First what is new, last what goes; the runner's own sources in one go, because a mixture
        // of two might not build.
        let order = |change: &Change| match (&change.old, &change.new) {
            (None, _) => 0,
            (_, None) => 3,
            _ if change.path.starts_with("course/")
                || change.path.starts_with("Cargo.")
                || change.path.starts_with(".cargo/") =>
            {
                2
            }
            _ => 1,
        };
        self.changes.sort_by_key(order);
        let mut transaction = Transaction::new(root, "update");
        for Change { path, old, new, keep } in &self.changes {
            let verb = match (old, new) {
                (None, _) => "new",
                (_, None) => "removed",
                _ if is_generated(path) => "merged",
                _ => "replaced",
            };
            // A learner's own files one by one; the course's are many, and a dry run lists them
            // too.
            if dry_run || is_generated(path) {
                println!("{verb:<9}{path}");
            }
            if *keep {
                transaction.replace(path, old.as_deref(), new.as_deref());
            } else {
                transaction.replace_unkept(path, old.as_deref(), new.as_deref());
            }
        }
        let title = |text: &str| {
            println!("\n{text}{}:", if dry_run { ", if this were no dry run" } else { "" });
        };
        if !self.yours.is_empty() {
            title(
                "You had changed these files of the course; your versions are kept in \
                 .course/recovery",
            );
            self.yours.iter().for_each(|path| println!("  {path}"));
        }
        if !self.moved.is_empty() {
            title("These files have another name in the newer course; your work is in them");
            self.moved.iter().for_each(|(old, new)| println!("  {old} is {new}"));
        }
        if !self.stay.is_empty() {
            title(
                "The newer course no longer has these files; they stay, because you have changed \
                 them",
            );
            self.stay.iter().for_each(|path| println!("  {path}"));
        }
        let of =
            |text: Option<&Vec<u8>>| text.map(|text| String::from_utf8_lossy(text).into_owned());
        let present = read(root, changes::PATH)?;
        let newer_changes = of(newer.files.get(changes::PATH)).unwrap_or_default();
        let news = changes::new_to(&of(present.as_ref()).unwrap_or_default(), &newer_changes);
        if !news.is_empty() {
            println!("\nNew to you:\n{news}");
        }
        let files = self.changes.len();
        if dry_run {
            println!("\n{files} files would change; nothing was written.");
            return Ok(());
        }
        let all = newer.files.iter().map(|(path, content)| (path.clone(), hash(content)));
        let record = Record { commit: newer.commit.clone(), files: all.collect() };
        let (old, new) = (read(root, RECORD)?, record.text().into_bytes());
        if old.as_ref() != Some(&new) {
            transaction.replace_unkept(RECORD, old.as_deref(), Some(&new));
        }
        let done = transaction.commit()?;
        println!("\n{files} files changed; the course is now that of {}.", newer.name);
        done.print();
        Ok(())
    }
}

/// Whether the newer course has no file of that name.
fn is_gone(newer: &Newer, file: &Generated) -> bool {
    !newer.templates.iter().any(|(path, _)| *path == file.path)
}

/// The file that a new one was before: the newer course has it no more, and most of the new one's
/// functions stand in it.
fn moved<'a>(
    newer: &Newer,
    present: &'a [Generated],
    template: &Template,
) -> Option<&'a Generated> {
    let functions = |template: &Template| -> BTreeSet<String> {
        template.regions().filter_map(|region| region.function.clone()).collect()
    };
    let new = functions(template);
    present.iter().filter(|file| is_gone(newer, file)).find(|file| {
        let shared = functions(&file.template).intersection(&new).count();
        2 * shared > new.len()
    })
}

fn read(root: &Path, path: &str) -> Result<Option<Vec<u8>>> {
    let place = root.join(path);
    if !place.is_file() {
        return Ok(None);
    }
    Ok(Some(fs::read(&place).with_context(|| format!("{path} cannot be read"))?))
}

fn short(commit: &str) -> &str {
    &commit[..commit.len().min(8)]
}
