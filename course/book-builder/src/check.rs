//! Checks the sources: links must have a target, items must exist, formulas must parse, and
//! commands must state their expected result.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Component, Path, PathBuf},
};

use anyhow::Result;
use pulldown_cmark::{Event, Tag, TagEnd};

use crate::{
    chapters::{SOURCES, chapters, listed, located},
    console, live,
    markdown::{Problem, events, line_of},
    math, mistakes, stub,
};

/// Returns all problems in all chapters, each with file and line.
pub(crate) fn problems(repository: &Path) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let chapters = chapters(repository)?;
    let listed = listed(repository)?;
    let mut headings = HashMap::new();
    for chapter in &chapters {
        headings
            .insert(chapter.clone(), headings_of(&fs::read_to_string(repository.join(chapter))?));
    }
    for chapter in &chapters {
        let text = fs::read_to_string(repository.join(chapter))?;
        let mut here = Vec::new();
        if !listed.contains(chapter) {
            here.push((1, format!("this chapter is not listed in {SOURCES}/SUMMARY.md")));
        }
        stub::expand(&text, repository, &mut here);
        mistakes::expand(&text, repository, &mut here);
        math::typeset(&text, &mut here);
        live::expand(&text, &repository.join(SOURCES), Path::new(chapter), true, &mut here);
        console::commands_of(&text, &mut here);
        includes(&text, &repository.join(chapter), &mut here);
        links(&text, chapter, repository, &headings, &mut here);
        here.sort();
        problems.extend(located(chapter, here));
    }
    Ok(problems)
}

/// Reports each `{{#include day1.rs:anchor}}` whose file or anchor does not exist, because mdBook
/// would print the directive and continue.
fn includes(text: &str, chapter: &Path, problems: &mut Vec<Problem>) {
    for (n, line) in text.lines().enumerate() {
        for rest in line.split("{{#include ").skip(1) {
            let Some((target, _)) = rest.split_once("}}") else { continue };
            let mut parts = target.trim().splitn(2, ':');
            let file = chapter.with_file_name(parts.next().unwrap_or_default());
            let anchor =
                parts.next().filter(|anchor| anchor.starts_with(|c: char| c.is_alphabetic()));
            match fs::read_to_string(&file) {
                Err(error) => {
                    problems.push((n + 1, format!("include: cannot read {target:?}: {error}")));
                }
                Ok(source) => {
                    if let Some(anchor) = anchor
                        && !source
                            .lines()
                            .any(|line| line.trim_end().ends_with(&format!("ANCHOR: {anchor}")))
                    {
                        problems
                            .push((n + 1, format!("include: {target:?} has no anchor {anchor:?}")));
                    }
                }
            }
        }
    }
}

fn links(
    text: &str,
    chapter: &str,
    repository: &Path,
    headings: &HashMap<String, HashSet<String>>,
    problems: &mut Vec<Problem>,
) {
    for (event, range) in events(text) {
        let (Event::Start(Tag::Link { dest_url: target, .. })
        | Event::Start(Tag::Image { dest_url: target, .. })) = event
        else {
            continue;
        };
        if ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme)) {
            continue;
        }
        if let Err(problem) = follow(&target, chapter, repository, headings) {
            problems.push((line_of(text, range.start), format!("link {target:?}: {problem}")));
        }
    }
}

fn follow(
    target: &str,
    chapter: &str,
    repository: &Path,
    headings: &HashMap<String, HashSet<String>>,
) -> Result<(), String> {
    let (path, fragment) =
        target.split_once('#').map_or((target, None), |(path, fragment)| (path, Some(fragment)));
    let file = if path.is_empty() {
        chapter.to_owned()
    } else {
        resolve(chapter, path).ok_or("leads out of book/src")?
    };
    if !repository.join(&file).is_file() {
        return Err(format!("there is no {file}"));
    }
    if path.ends_with(".md") && !headings.contains_key(&file) {
        return Err(format!("{file} is not a chapter"));
    }
    match (fragment, headings.get(&file)) {
        (Some(fragment), Some(headings)) if !headings.contains(fragment) => {
            Err(format!("{file} has no heading #{fragment}"))
        }
        _ => Ok(()),
    }
}

/// Converts `path`, which is relative to a chapter, to a path relative to the repository. Returns
/// `None` if the result is outside the sources.
fn resolve(chapter: &str, path: &str) -> Option<String> {
    let mut parts: Vec<String> = Path::new(chapter)
        .parent()?
        .components()
        .map(|c| c.as_os_str().to_string_lossy().into_owned())
        .collect();
    for part in PathBuf::from(path).components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => drop(parts.pop()?),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    let file = parts.join("/");
    file.starts_with(&format!("{SOURCES}/")).then_some(file)
}

/// Returns the URL fragments of all headings, as mdBook creates them. Repeated ones are numbered.
fn headings_of(text: &str) -> HashSet<String> {
    let mut ids = HashSet::new();
    let mut open: Option<(Option<String>, String)> = None;
    for (event, _) in events(text) {
        match event {
            Event::Start(Tag::Heading { id, .. }) => {
                open = Some((id.map(pulldown_cmark::CowStr::into_string), String::new()));
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some((_, title)) = &mut open {
                    title.push_str(&part);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let Some((id, title)) = open.take() else { continue };
                let id = id.unwrap_or_else(|| slug(&title));
                let numbered = (1..).map(|n| format!("{id}-{n}"));
                let free = std::iter::once(id.clone()).chain(numbered).find(|id| !ids.contains(id));
                ids.extend(free);
            }
            _ => {}
        }
    }
    ids
}

fn slug(title: &str) -> String {
    title
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
            c if c.is_whitespace() => Some('-'),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(chapter: &str) -> Vec<String> {
        let repository = tempfile::tempdir().unwrap();
        let sources = repository.path().join(SOURCES);
        fs::create_dir_all(sources.join("week1")).unwrap();
        fs::write(
            sources.join("SUMMARY.md"),
            "# Summary\n\n- [One](week1/one.md)\n- [Two](two.md)\n",
        )
        .unwrap();
        fs::write(sources.join("week1/one.md"), chapter).unwrap();
        fs::write(
            sources.join("two.md"),
            "# Two\n\n## Its `head` size, D\n\n## Twice\n\n## Twice\n",
        )
        .unwrap();
        problems(repository.path()).unwrap()
    }

    #[test]
    fn reports_broken_links_and_includes() {
        assert!(
            book(
                "[a](../two.md) [b](../two.md#its-head-size-d) [c](../two.md#twice-1) \
                 [d](https://example.org)\n"
            )
            .is_empty()
        );
        let expect = |chapter: &str, line: usize, words: &str| {
            let problems = book(chapter);
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(
                problems[0].starts_with(&format!("book/src/week1/one.md:{line}: "))
                    && problems[0].contains(words),
                "{problems:?}"
            );
        };
        expect("\n\n[a](three.md)\n", 3, "there is no book/src/week1/three.md");
        expect("![a](../figure.svg)\n", 1, "there is no book/src/figure.svg");
        expect("[a](../two.md#nowhere)\n", 1, "no heading #nowhere");
        expect("[a](../../../Cargo.toml)\n", 1, "leads out of book/src");
        expect("\n{{#include none.rs}}\n", 2, "include: cannot read");
        expect("\n{{#stub week1/none.rs f}}\n", 2, "stub: cannot read");
    }
}
