//! A small course for the runner's own tests.

use std::{fs, path::Path};

use tempfile::TempDir;

use crate::curriculum::Curriculum;

/// A curriculum of two days. The first has two tasks in `a.rs`, the second has one in `b.rs`.
pub const CURRICULUM: &str = r#"
[[week]]
number = 1
title = "First"
[[week.day]]
feature = "week1-day1"
title = "Counting"
chapter = "book/src/week1/day1.md"
[[week.day.task]]
number = 1
title = "One"
file = "src/week1/a.rs"
functions = ["one"]
goal = "Count to one."
[[week.day.task]]
number = 2
title = "Two"
file = "src/week1/a.rs"
functions = ["Two::two"]
goal = "Count to two."
[[week.day]]
feature = "week1-day2"
title = "More"
chapter = "book/src/week1/day2.md"
[[week.day.task]]
number = 1
title = "Three"
file = "src/week1/b.rs"
functions = ["three"]
goal = "Count to three."
"#;

/// Returns [`CURRICULUM`], parsed.
pub fn curriculum() -> Curriculum {
    Curriculum::parse(CURRICULUM).unwrap()
}

/// The reference's `a.rs`.
pub const A: &str = "\
pub fn one() -> u32 {
    // SOLUTION week1-day1 task 1
    1
    // END SOLUTION
}

pub struct Two;

impl Two {
    pub fn two(&self) -> u32 {
        // SOLUTION week1-day1 task 2
        2
        // END SOLUTION
    }
}
";

/// The reference's `b.rs`.
pub const B: &str = "\
pub fn three() -> u32 {
    // SOLUTION week1-day2 task 1
    3
    // END SOLUTION
}
";

/// Creates a repository with [`CURRICULUM`] and its reference, without the generated `src/`.
pub fn repository() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("course/curriculum.toml", CURRICULUM),
        ("reference/src/week1/mod.rs", "//! Week 1.\n\npub mod a;\npub mod b;\n"),
        ("reference/src/week1/a.rs", A),
        ("reference/src/week1/b.rs", B),
    ] {
        write(folder.path(), path, text);
    }
    folder
}

/// Writes a file, and creates its parent folders.
pub fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns the text of a file.
pub fn text(root: &Path, path: &str) -> String {
    fs::read_to_string(root.join(path)).unwrap()
}

/// Replaces the first `from` in a file with `to`.
pub fn edit(root: &Path, path: &str, from: &str, to: &str) {
    let old = text(root, path);
    assert!(old.contains(from), "{old}");
    write(root, path, &old.replacen(from, to, 1));
}

/// Returns the versions of a file that are kept in `.course/recovery`.
pub fn kept(root: &Path, path: &str) -> Vec<String> {
    let folders = fs::read_dir(root.join(".course/recovery")).into_iter().flatten();
    let kept = folders.filter_map(|folder| fs::read(folder.unwrap().path().join(path)).ok());
    kept.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
}
