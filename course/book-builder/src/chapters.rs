//! The chapters of the book, as files.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use pulldown_cmark::{Event, Tag};

use crate::markdown::{Problem, events};

/// Folder of the chapters, relative to the repository.
pub(crate) const SOURCES: &str = "book/src";

/// Formats problems: `book/src/day1.md:41: what is wrong`.
pub(crate) fn located(chapter: &str, problems: Vec<Problem>) -> impl Iterator<Item = String> {
    problems.into_iter().map(move |(line, problem)| format!("{chapter}:{line}: {problem}"))
}

/// Returns every Markdown file of the book except its summary, relative to the repository. Files
/// that the summary lists come first, in the same order.
pub(crate) fn chapters(repository: &Path) -> Result<Vec<String>> {
    let listed = listed(repository)?;
    let mut files = BTreeSet::new();
    course::files::list(repository, Path::new(SOURCES), &mut files)?;
    let is_chapter = |path: &&PathBuf| {
        path.extension().is_some_and(|e| e == "md") && !path.ends_with("SUMMARY.md")
    };
    let chapters = files.iter().filter(is_chapter).map(|path| course::files::slashed(path));
    let mut found: Vec<String> = chapters.collect::<Result<_>>()?;
    found.sort_by_key(|chapter| {
        (listed.iter().position(|l| l == chapter).unwrap_or(usize::MAX), chapter.clone())
    });
    Ok(found)
}

/// Returns the chapters that SUMMARY.md lists.
pub(crate) fn listed(repository: &Path) -> Result<Vec<String>> {
    let summary = repository.join(SOURCES).join("SUMMARY.md");
    let text = fs::read_to_string(&summary)
        .with_context(|| format!("cannot read {}", summary.display()))?;
    let targets = events(&text).filter_map(|(event, _)| match event {
        Event::Start(Tag::Link { dest_url, .. }) => {
            Some(format!("{SOURCES}/{}", dest_url.trim_start_matches("./")))
        }
        _ => None,
    });
    Ok(targets.collect())
}
