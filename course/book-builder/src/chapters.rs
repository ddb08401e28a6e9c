//! The chapters of the book, as files.

use std::{fs, path::Path};

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
    let mut found = Vec::new();
    let mut open = vec![repository.join(SOURCES)];
    while let Some(folder) = open.pop() {
        for entry in
            fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?
        {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "md") && !path.ends_with("SUMMARY.md") {
                found.push(relative(&path, repository));
            }
        }
    }
    found.sort_by_key(|chapter| {
        (listed.iter().position(|l| l == chapter).unwrap_or(usize::MAX), chapter.clone())
    });
    Ok(found)
}

fn relative(path: &Path, repository: &Path) -> String {
    path.strip_prefix(repository).unwrap_or(path).to_string_lossy().replace('\\', "/")
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
