//! A learner's submission: the weeks' Rust files, and nothing else.
//!
//! A problem with a file is reported for this submission. The file counts as missing, and the other
//! files are graded.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use super::reader::Found;

/// The files of one submission.
#[derive(Debug, Default)]
pub(super) struct Submission {
    /// Texts of the files by path, such as `src/week1/attention/attention.rs`.
    pub(super) files: BTreeMap<String, String>,
    /// The submission's form and its problems, one per line.
    pub(super) findings: Vec<String>,
    /// If nothing can be graded, the reason.
    pub(super) refused: Option<String>,
}

impl Submission {
    /// Assigns each file in `found` to its path in the course, whose files are `stubs`. Reports the
    /// files in `needed` that are missing.
    pub(super) fn new(
        found: Found,
        stubs: &BTreeMap<String, String>,
        needed: &BTreeSet<&str>,
    ) -> Self {
        let mut submission = Self { refused: found.refused, ..Self::default() };
        if !found.form.is_empty() {
            submission.findings.push(format!("read as {}", found.form));
        }
        submission.findings.extend(found.findings);
        for (path, text) in found.files {
            match place(&path, stubs, needed) {
                Ok(place) => {
                    submission.files.insert(place, text);
                }
                Err(reason) => {
                    let path = path.escape_debug();
                    submission.findings.push(format!("{path}: not used, because {reason}"));
                }
            }
        }
        if submission.files.is_empty() {
            let unusable = || format!("read as {}, but no file in it can be used", found.form);
            submission.refused.get_or_insert_with(unusable);
        }
        let missing: Vec<&str> =
            needed.iter().copied().filter(|path| !submission.files.contains_key(*path)).collect();
        if submission.refused.is_none() && !missing.is_empty() {
            submission
                .findings
                .push(format!("not submitted, so graded as stubs: {}", missing.join(", ")));
        }
        submission
    }
}

/// Returns the path in the course of a file such as `week1/attention/attention.rs`, or only
/// `attention.rs`.
fn place(
    path: &str,
    stubs: &BTreeMap<String, String>,
    needed: &BTreeSet<&str>,
) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/_-.".contains(c);
    if !path.chars().all(plain) {
        return Err("no module has such a name".to_owned());
    }
    if path.contains('/') {
        let path = format!("src/{path}");
        let inside = |stub: &&String| {
            path.strip_prefix(stub.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        return match stubs.keys().find(inside) {
            None => Ok(path),
            Some(stub) => Err(format!("{stub} is a file of the course, not a folder")),
        };
    }
    // Several weeks may have files with the same name. In that case, the graded days decide.
    let all: Vec<&str> = stubs
        .keys()
        .map(String::as_str)
        .filter(|stub| stub.rsplit('/').next() == Some(path))
        .collect();
    let graded: Vec<&str> = all.iter().copied().filter(|stub| needed.contains(stub)).collect();
    match if graded.is_empty() { &all[..] } else { &graded[..] } {
        [stub] => Ok((*stub).to_owned()),
        [] => Err("the course has no file with this name".to_owned()),
        several => {
            let several = several.join(" and ");
            Err(format!("its name matches {several}, so submit it in a folder such as week1/"))
        }
    }
}

/// Returns a name for each folder: its own, made safe as a file name, and numbered if it would
/// equal another name or one of `taken`. Ignores case, because some file systems do.
pub(super) fn names(folders: &[PathBuf], taken: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for folder in folders {
        let full = fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        let own = full
            .file_name()
            .map_or("submission".into(), |name| name.to_string_lossy().into_owned());
        let safe: String = own
            .chars()
            .map(|c| if c.is_alphanumeric() || "-_.@ ".contains(c) { c } else { '_' })
            .collect();
        let name =
            (1..).map(|n| if n == 1 { safe.clone() } else { format!("{safe}-{n}") }).find(|name| {
                let mut others = names.iter().map(String::as_str).chain(taken.iter().copied());
                !others.any(|other| other.to_lowercase() == name.to_lowercase())
            });
        names.push(name.unwrap_or(safe));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUBS: [&str; 5] = [
        "src/week1/a.rs",
        "src/week1/b.rs",
        "src/week1/mod.rs",
        "src/week2/a.rs",
        "src/week2/b.rs",
    ];

    fn with(paths: &[&str]) -> Submission {
        let files = paths.iter().map(|path| ((*path).to_owned(), String::new()));
        let found = Found { form: "x".to_owned(), files: files.collect(), ..Found::default() };
        let stubs = STUBS.map(|path| (path.to_owned(), String::new()));
        Submission::new(found, &BTreeMap::from(stubs), &BTreeSet::from(["src/week1/a.rs"]))
    }

    fn files(submission: &Submission) -> Vec<&str> {
        submission.files.keys().map(String::as_str).collect()
    }

    #[test]
    fn keeps_paths_and_reports_missing_files() {
        let read = with(&["week1/a.rs", "week1/own.rs", "week1/\u{e4}.rs"]);
        assert_eq!(files(&read), ["src/week1/a.rs", "src/week1/own.rs"]);
        assert_eq!(
            read.findings,
            ["read as x", "week1/\u{e4}.rs: not used, because no module has such a name"]
        );
        let read = with(&["week1/a.rs/own.rs"]);
        assert_eq!(
            read.findings[1],
            "week1/a.rs/own.rs: not used, because src/week1/a.rs is a file of the course, not a \
             folder"
        );
        let read = with(&["week2/a.rs"]);
        assert_eq!(read.findings[1], "not submitted, so graded as stubs: src/week1/a.rs");
    }

    #[test]
    fn places_loose_files_by_name() {
        let read = with(&["a.rs", "b.rs", "lib.rs"]);
        assert_eq!(files(&read), ["src/week1/a.rs"]);
        assert_eq!(
            read.findings[1..],
            [
                "b.rs: not used, because its name matches src/week1/b.rs and src/week2/b.rs, so submit \
                 it in a folder such as week1/",
                "lib.rs: not used, because the course has no file with this name",
            ]
        );
        let none = with(&["lib.rs"]).refused;
        assert_eq!(none.as_deref(), Some("read as x, but no file in it can be used"));
    }

    #[test]
    fn names_are_unique_and_safe() {
        let folders = ["/a/eve", "/b/Eve", "/c/x:y", "/", "/d/table.csv"].map(PathBuf::from);
        let found = names(&folders, &["table.csv"]);
        assert_eq!(found, ["eve", "Eve-2", "x_y", "submission", "table.csv-2"]);
    }
}
