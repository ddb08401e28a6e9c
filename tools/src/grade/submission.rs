//! What a learner handed in: the week's Rust files, and nothing else of it.
//!
//! What is wrong with a file is a finding about that submission: the file counts as not handed in,
//! and the others are graded.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;

use super::allowed;
use crate::curriculum::Curriculum;

/// The largest file that is read.
const FILE_LIMIT: u64 = 1 << 20; // bytes
/// The most files that are read.
const FILES: usize = 200;
/// How deep folders may nest below `week1/`.
const DEPTH: usize = 4;

/// The files of one submission.
#[derive(Debug, Default)]
pub(super) struct Submission {
    /// The name of its folder; unique within a run.
    pub(super) name: String,
    /// Which form was found, in words.
    pub(super) form: String,
    /// `src/week1/attention.rs` → its text.
    pub(super) files: BTreeMap<String, String>,
    /// The same as it is compiled.
    pub(super) code: BTreeMap<String, String>,
    /// What is wrong with it, a line each.
    pub(super) findings: Vec<String>,
    /// What the instructor should look at, a line each.
    pub(super) flags: Vec<String>,
    /// Why none of it can be graded.
    pub(super) refused: Option<String>,
}

impl Submission {
    /// Reads what lies in `folder`. `stubs` are all files of the course; those in `needed` are
    /// missed if they are not there.
    pub(super) fn read(
        name: String,
        folder: &Path,
        curriculum: &Curriculum,
        stubs: &BTreeMap<String, String>,
        needed: &BTreeSet<&str>,
    ) -> Self {
        let mut submission = Self { name, ..Self::default() };
        match submission.read_files(folder, curriculum, stubs, needed) {
            Ok(()) if submission.files.is_empty() && submission.refused.is_none() => {
                submission.refused =
                    Some(format!("{}, but no file in it can be used", submission.form));
            }
            Ok(()) => {}
            Err(error) => submission.refused = Some(format!("it cannot be read: {error:#}")),
        }
        let missing: Vec<&str> =
            needed.iter().copied().filter(|path| !submission.files.contains_key(*path)).collect();
        if submission.refused.is_none() && !missing.is_empty() {
            submission
                .findings
                .push(format!("not handed in, so graded as fresh stubs: {}", missing.join(", ")));
        }
        let stub = |path: &String| stubs.get(path).map_or("", String::as_str);
        let own_macros = allowed::own_macros(submission.files.values().chain(stubs.values()));
        for (path, text) in &submission.files {
            let read = allowed::read(path, text, stub(path), &own_macros);
            submission.flags.extend(read.flags);
            submission.code.insert(path.clone(), read.code);
        }
        submission
    }

    fn read_files(
        &mut self,
        folder: &Path,
        curriculum: &Curriculum,
        stubs: &BTreeMap<String, String>,
        needed: &BTreeSet<&str>,
    ) -> Result<()> {
        let root = fs::canonicalize(folder)?;
        let weeks: Vec<String> =
            curriculum.weeks.iter().map(|week| format!("week{}", week.number)).collect();
        for (inside, form) in
            [("src", "a clone of the course (src/week1/)"), ("", "a folder of weeks (week1/)")]
        {
            let found: Vec<&String> =
                weeks.iter().filter(|week| root.join(inside).join(week).is_dir()).collect();
            if !found.is_empty() {
                form.clone_into(&mut self.form);
                for week in found {
                    self.read_week(
                        &root,
                        &Path::new(inside).join(week),
                        &format!("src/{week}"),
                        0,
                    )?;
                }
                return Ok(());
            }
        }
        let loose = rust_files(&root)?;
        if loose.is_empty() {
            self.refused = Some(
                "found neither src/week1/ nor week1/ nor any .rs file; expected one of the three"
                    .to_owned(),
            );
            return Ok(());
        }
        "loose .rs files".clone_into(&mut self.form);
        for name in loose {
            // Weeks have files of one name; then the days that are graded decide.
            let all: Vec<&str> = stubs
                .keys()
                .map(String::as_str)
                .filter(|stub| stub.rsplit('/').next() == Some(&name))
                .collect();
            let asked: Vec<&str> =
                all.iter().copied().filter(|stub| needed.contains(stub)).collect();
            match if asked.is_empty() { &all[..] } else { &asked[..] } {
                [stub] => self.take(&root, Path::new(&name), (*stub).to_owned()),
                [] => self
                    .findings
                    .push(format!("{name}: not used, because the course has no file of that name")),
                several => {
                    self.findings.push(format!(
                        "{name}: not used, because it may be {}; hand in folders of weeks",
                        several.join(" or ")
                    ));
                }
            }
        }
        Ok(())
    }

    /// The files below `folder`, a path from `root`; `to` is the same folder in the learner's
    /// crate.
    fn read_week(&mut self, root: &Path, folder: &Path, to: &str, depth: usize) -> Result<()> {
        if !self.lies_inside(root, folder) {
            return Ok(());
        }
        if depth > DEPTH {
            self.findings.push(format!(
                "{}: not used, because it lies deeper than {DEPTH} folders",
                shown(folder)
            ));
            return Ok(());
        }
        for name in rust_files(&root.join(folder))? {
            self.take(root, &folder.join(&name), format!("{to}/{name}"));
        }
        let mut folders: Vec<String> = Vec::new();
        for entry in fs::read_dir(root.join(folder))? {
            let entry = entry?;
            if let (true, Ok(name)) = (entry.path().is_dir(), entry.file_name().into_string()) {
                folders.push(name);
            }
        }
        folders.sort();
        for name in folders {
            self.read_week(root, &folder.join(&name), &format!("{to}/{name}"), depth + 1)?;
        }
        Ok(())
    }

    /// Whether `path`, links followed, lies in the submission; if not, that is a finding.
    fn lies_inside(&mut self, root: &Path, path: &Path) -> bool {
        match fs::canonicalize(root.join(path)) {
            Ok(target) if target.starts_with(root) => true,
            Ok(_) => {
                self.findings.push(format!(
                    "{}: not used, because it is a link that leads outside the submission",
                    shown(path)
                ));
                false
            }
            Err(_) => {
                self.findings.push(format!(
                    "{}: not used, because it is a link that leads nowhere",
                    shown(path)
                ));
                false
            }
        }
    }

    /// Takes one file, a path from `root`, as the file `to` of the learner's crate.
    fn take(&mut self, root: &Path, path: &Path, to: String) {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/_-.".contains(c);
        if !to.chars().all(plain) {
            let shown: String = shown(path).escape_debug().collect();
            self.findings.push(format!("{shown}: not used, because no module has such a name"));
            return;
        }
        if !self.lies_inside(root, path) {
            return;
        }
        if self.files.len() == FILES {
            self.refused = Some(format!("it has more than {FILES} .rs files"));
            return;
        }
        match read(&root.join(path)) {
            Ok(text) => {
                self.files.insert(to, text);
            }
            Err(reason) => {
                self.findings.push(format!("{}: not used, because {reason}", shown(path)));
            }
        }
    }
}

/// The text of a regular file within the limit, or what is wrong with it.
fn read(path: &Path) -> Result<String, String> {
    let meta = fs::metadata(path).map_err(|error| format!("it cannot be read ({error})"))?;
    if !meta.is_file() {
        return Err("it is no regular file".to_owned());
    }
    if meta.len() > FILE_LIMIT {
        return Err(format!("it has {} bytes; at most {FILE_LIMIT} are read", meta.len()));
    }
    let bytes = fs::read(path).map_err(|error| format!("it cannot be read ({error})"))?;
    String::from_utf8(bytes)
        .map_err(|error| format!("byte {} is not UTF-8", error.utf8_error().valid_up_to()))
}

/// The names that end in `.rs` and are no folders, sorted.
fn rust_files(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().into_string()
            && name.ends_with(".rs")
            && !entry.path().is_dir()
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// A name for each folder: its own, made safe for a file name, and numbered where two would be the
/// same.
pub(super) fn names(folders: &[PathBuf]) -> Vec<String> {
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
        let name = (1..)
            .map(|n| if n == 1 { safe.clone() } else { format!("{safe}-{n}") })
            .find(|name| !names.contains(name));
        names.push(name.unwrap_or(safe));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{curriculum, write};

    const STUBS: [&str; 5] = [
        "src/week1/a.rs",
        "src/week1/b.rs",
        "src/week1/mod.rs",
        "src/week2/a.rs",
        "src/week2/b.rs",
    ];

    fn read_folder(root: &Path) -> Submission {
        let stubs = STUBS.map(|path| (path.to_owned(), String::new()));
        Submission::read(
            "x".into(),
            root,
            &curriculum(),
            &BTreeMap::from(stubs),
            &BTreeSet::from(["src/week1/a.rs"]),
        )
    }

    fn read_with(files: &[(&str, &str)]) -> Submission {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            write(folder.path(), path, text);
        }
        read_folder(folder.path())
    }

    fn files(submission: &Submission) -> Vec<&str> {
        submission.files.keys().map(String::as_str).collect()
    }

    #[test]
    fn three_forms_are_known() {
        let clone = read_with(&[
            ("src/week1/a.rs", "1"),
            ("src/week1/mine/c.rs", "2"),
            ("src/lib.rs", "3"),
            ("Cargo.toml", "4"),
            ("build.rs", "5"),
        ]);
        assert_eq!(files(&clone), ["src/week1/a.rs", "src/week1/mine/c.rs"]);
        assert!(
            clone.form.starts_with("a clone")
                && clone.findings.is_empty()
                && clone.refused.is_none(),
            "{clone:?}"
        );
        let weeks = read_with(&[("week1/a.rs", "1"), ("week1/notes.txt", "2")]);
        assert_eq!(
            (files(&weeks), weeks.form.as_str()),
            (vec!["src/week1/a.rs"], "a folder of weeks (week1/)")
        );
        let loose = read_with(&[("a.rs", "1"), ("lib.rs", "2")]);
        assert_eq!(
            (files(&loose), loose.form.as_str()),
            (vec!["src/week1/a.rs"], "loose .rs files")
        );
        assert_eq!(
            loose.findings,
            ["lib.rs: not used, because the course has no file of that name"]
        );
        let twice = read_with(&[("a.rs", "1"), ("b.rs", "2")]);
        assert_eq!(
            twice.findings,
            ["b.rs: not used, because it may be src/week1/b.rs or src/week2/b.rs; hand in \
                 folders of weeks"]
        );
    }

    #[test]
    fn anything_else_is_refused_with_what_was_expected() {
        let none = read_with(&[("README.md", "")]);
        assert_eq!(
            none.refused.as_deref(),
            Some("found neither src/week1/ nor week1/ nor any .rs file; expected one of the three")
        );
        let absent = read_folder(Path::new("/does/not/exist"));
        assert!(absent.refused.unwrap().starts_with("it cannot be read"));
    }

    #[test]
    fn a_bad_file_is_one_finding_and_the_others_are_read() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "week1/b.rs", "fn a() { std::fs::read(x) }");
        fs::write(folder.path().join("week1/a.rs"), [b'a', 0xff]).unwrap();
        fs::write(folder.path().join("week1/mod.rs"), vec![b' '; FILE_LIMIT as usize + 1]).unwrap();
        let read = read_folder(folder.path());
        assert_eq!(files(&read), ["src/week1/b.rs"]);
        assert_eq!(
            read.findings,
            [
                "week1/a.rs: not used, because byte 1 is not UTF-8",
                "week1/mod.rs: not used, because it has 1048577 bytes; at most 1048576 are read",
                "not handed in, so graded as fresh stubs: src/week1/a.rs",
            ]
        );
        assert_eq!(read.flags, ["src/week1/b.rs:1: fs"]);
    }

    #[test]
    fn too_many_files_are_refused() {
        let many: Vec<(String, &str)> =
            (0..=FILES).map(|n| (format!("week1/f{n}.rs"), "")).collect();
        let many: Vec<(&str, &str)> =
            many.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        assert_eq!(read_with(&many).refused.as_deref(), Some("it has more than 200 .rs files"));
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_outside_are_refused() {
        use std::os::unix::fs::symlink;
        let (outside, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(outside.path(), "secret.rs", "secret");
        write(folder.path(), "week1/b.rs", "mine");
        symlink(outside.path().join("secret.rs"), folder.path().join("week1/a.rs")).unwrap();
        symlink(outside.path(), folder.path().join("week1/more")).unwrap();
        symlink("b.rs", folder.path().join("week1/c.rs")).unwrap();
        symlink("nothing", folder.path().join("week1/d.rs")).unwrap();
        symlink("../week1", folder.path().join("week1/loop")).unwrap();
        let read = read_folder(folder.path());
        assert!(
            files(&read).contains(&"src/week1/c.rs")
                && read.files.values().all(|text| text == "mine"),
            "{read:?}"
        );
        for expected in [
            "week1/a.rs: not used, because it is a link that leads outside",
            "week1/more: not used",
            "week1/d.rs: not used",
        ] {
            assert!(
                read.findings.iter().any(|finding| finding.starts_with(expected)),
                "{expected}: {:?}",
                read.findings
            );
        }
        assert!(
            read.findings.iter().any(|finding| finding.contains("deeper than 4 folders")),
            "a loop ends: {:?}",
            read.findings
        );
    }

    #[test]
    fn names_are_unique_and_safe() {
        let folders = ["/a/eve", "/b/eve", "/c/x:y", "/"].map(PathBuf::from);
        assert_eq!(names(&folders), ["eve", "eve-2", "x_y", "submission"]);
    }
}
