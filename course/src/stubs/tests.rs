use super::*;
use crate::testing::{A, B, curriculum, kept, repository, text, write as put};

const STUB_A: &str = "\
pub fn one() -> u32 {
    todo!(\"week1-day1 task 1: one\")
}

pub struct Two;

impl Two {
    pub fn two(&self) -> u32 {
        todo!(\"week1-day1 task 2: Two::two\")
    }
}
";

fn check_error(root: &Path) -> String {
    check(root, &curriculum()).unwrap_err().to_string()
}

#[test]
fn writes_a_fresh_tree_only_once() {
    let root = repository();
    let root = root.path();
    assert!(check_error(root).contains("src/week1/a.rs: missing"));
    write(root, &curriculum(), false).unwrap();
    assert_eq!(text(root, "src/week1/a.rs"), STUB_A);
    assert_eq!(text(root, "src/week1/mod.rs"), "//! Week 1.\n\npub mod a;\npub mod b;\n");
    assert_eq!(check(root, &curriculum()).unwrap(), Checked { equal: 3, yours: 0 });
    write(root, &curriculum(), false).unwrap();
    assert!(!root.join(".course").exists(), "nothing was replaced, so nothing is kept");
}

#[test]
fn does_not_overwrite_work_without_force() {
    let root = repository();
    let root = root.path();
    write(root, &curriculum(), false).unwrap();
    let mine = STUB_A.replace("todo!(\"week1-day1 task 2: Two::two\")", "1 + 1");
    put(root, "src/week1/a.rs", &mine);
    put(
        root,
        "src/week1/b.rs",
        "out of date\n\npub fn three() -> u32 {\n    todo!(\"week1-day2 task 1: drei\")\n}\n",
    );

    assert!(
        check_error(root)
            .contains("src/week1/b.rs:1: found `out of date`, expected `pub fn three() -> u32 {`")
    );
    let error = write(root, &curriculum(), false).unwrap_err().to_string();
    assert!(error.contains("src/week1/a.rs: Two::two\n"), "{error}");
    assert_eq!(text(root, "src/week1/a.rs"), mine);
    assert!(
        text(root, "src/week1/b.rs").starts_with("pub fn three"),
        "the other file is still written"
    );
    assert_eq!(check(root, &curriculum()).unwrap(), Checked { equal: 2, yours: 1 });

    write(root, &curriculum(), true).unwrap();
    assert_eq!(text(root, "src/week1/a.rs"), STUB_A);
    assert_eq!(kept(root, "src/week1/a.rs"), [mine]);
}

#[test]
fn half_a_solution_counts_as_work() {
    let root = repository();
    let root = root.path();
    let begun = STUB_A.replace(
        "    todo!(\"week1-day1 task 1: one\")",
        "    // count\n    todo!(\"week1-day1 task 1: one\")",
    );
    put(root, "src/week1/a.rs", &begun);
    assert!(write(root, &curriculum(), false).unwrap_err().to_string().contains("a.rs: one\n"));
    assert_eq!(text(root, "src/week1/a.rs"), begun);
}

/// A learner's helper cannot be distinguished from an item that only an older reference had. So
/// both are kept, except in a file that equals the last commit's stub.
#[test]
fn keeps_a_helper_outside_the_tasks() {
    let folder = repository();
    let root = folder.path();
    let mine = format!("{STUB_A}\nfn mine() -> u32 {{\n    7\n}}\n");
    put(root, "src/week1/a.rs", &mine);
    let error = write(root, &curriculum(), false).unwrap_err().to_string();
    assert!(error.contains("src/week1/a.rs: mine (not part of a task)\n"), "{error}");
    assert_eq!(text(root, "src/week1/a.rs"), mine);
    let method = STUB_A.replace("impl Two {", "impl Two {\n    fn half(&self) {}\n");
    put(root, "src/week1/a.rs", &method);
    let error = write(root, &curriculum(), false).unwrap_err().to_string();
    assert!(error.contains("Two::half (not part of a task)"), "{error}");

    // A maintainer removes an item from the reference.
    put(root, "reference/src/week1/a.rs", &format!("{A}\nfn mine() -> u32 {{\n    7\n}}\n"));
    put(root, "src/week1/a.rs", &mine);
    for arguments in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
    ] {
        let done = Command::new("git").args(arguments).current_dir(root).status().unwrap();
        assert!(done.success());
    }
    put(root, "reference/src/week1/a.rs", A);
    write(root, &curriculum(), false).unwrap();
    assert_eq!(text(root, "src/week1/a.rs"), STUB_A);
}

#[test]
fn check_rejects_unknown_files() {
    let folder = repository();
    let root = folder.path();
    write(root, &curriculum(), false).unwrap();
    for path in ["src/week1/kernels/streams.rs", "src/week1/notes.txt"] {
        put(root, path, "//! Left over.\n");
        assert!(check_error(root).contains(&format!("{path}: reference/src has no such file")));
        fs::remove_file(root.join(path)).unwrap();
    }
    check(root, &curriculum()).unwrap();
}

#[test]
fn check_reports_the_first_differing_line() {
    let root = repository();
    let root = root.path();
    write(root, &curriculum(), false).unwrap();
    put(
        root,
        "reference/src/week1/a.rs",
        &A.replace("pub struct Two;", "/// Two.\npub struct Two;"),
    );
    assert!(
        check_error(root)
            .contains("src/week1/a.rs:5: found `pub struct Two;`, expected `/// Two.`")
    );
    put(root, "reference/src/week1/a.rs", &format!("{A}\npub struct Last;\n"));
    assert!(
        check_error(root).contains("src/week1/a.rs:12: found the end of the file, expected ``")
    );
    put(root, "reference/src/week1/a.rs", A);
    put(root, "reference/src/week1/c.rs", "//! Given.\n");
    assert!(
        check_error(root).contains("src/week1/c.rs: it contains no task; move it to provided/")
    );
}

#[test]
fn writes_the_task_list_into_both_trees() {
    let root = repository();
    let root = root.path();
    put(root, "reference/src/week1/b.rs", &format!("//! B.\n\n{B}"));
    let error = check_error(root);
    assert!(
        error.contains("reference/src/week1/b.rs: its list of tasks is out of date"),
        "{error}"
    );
    write(root, &curriculum(), false).unwrap();
    check(root, &curriculum()).unwrap();
    let list =
        "//! B.\n//!\n//! Tasks here: week1-day2 task 1 (`three`). Everything else is provided.\n";
    for path in ["reference/src/week1/b.rs", "src/week1/b.rs"] {
        assert!(text(root, path).starts_with(list), "{path}");
    }
}

#[test]
fn check_ignores_windows_line_ends() {
    let root = repository();
    let root = root.path();
    write(root, &curriculum(), false).unwrap();
    put(root, "src/week1/a.rs", &STUB_A.replace('\n', "\r\n"));
    assert_eq!(check(root, &curriculum()).unwrap(), Checked { equal: 3, yours: 0 });
}

#[test]
fn a_listed_function_needs_a_region() {
    let root = repository();
    let root = root.path();
    put(root, "reference/src/week1/b.rs", "pub fn three() -> u32 {\n    3\n}\n");
    let error = format!("{:#}", write(root, &curriculum(), false).unwrap_err());
    assert_eq!(
        error,
        "reference/ does not match course/curriculum.toml (if an update was interrupted, run \
         `cargo course update` again): reference/src/week1/b.rs: three has no region `// SOLUTION \
         week1-day2 task 1`, but the curriculum lists it"
    );
    assert!(!root.join("src").exists(), "nothing is written");
}
