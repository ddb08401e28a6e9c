//! Tests with a newer course from git.

use super::*;

/// Runs git, with an author's name for commits.
fn git_in(root: &Path, arguments: &[&str]) -> String {
    let who = [
        "-c",
        "user.name=T",
        "-c",
        "user.email=t@example.org",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "init.defaultBranch=main",
    ];
    git::line(root, &[&who[..], arguments].concat()).unwrap()
}

fn commit_all(root: &Path) {
    git_in(root, &["add", "-A", "."]);
    git_in(root, &["commit", "-q", "-m", "m"]);
}

#[test]
fn updates_from_git_without_changing_branch_or_index() {
    let (course, _) = pair();
    write(course.path(), ".gitignore", "/.course\n");
    write(course.path(), "tests/gone.rs", "// was in the course\n");
    git_in(course.path(), &["init", "-q"]);
    commit_all(course.path());
    let learner = tempfile::tempdir().unwrap();
    let root = learner.path();
    git_in(root, &["clone", "-q", course.path().to_str().unwrap(), "."]);
    // The learner commits work and an added file. The added file must not be treated as one that
    // the newer course has removed.
    edit(root, PATH, "    todo!(\"week1-day1 task 1: one\")", "    1");
    write(root, "tests/added.rs", "// mine alone\n");
    commit_all(root);
    write(root, "tests/staged.rs", "// mine, staged\n");
    git_in(root, &["add", "tests/staged.rs"]);

    let state = || {
        (
            git_in(root, &["rev-parse", "HEAD"]),
            git_in(root, &["ls-files", "-s"]),
            git_in(root, &["branch", "-a"]),
        )
    };
    let before = state();
    let update = |from: Option<&str>| update(root, from, false).unwrap();
    let files = snapshot(root);
    update(None);
    update(Some("HEAD"));
    assert_eq!(snapshot(root), files, "nothing is newer yet");

    fs::remove_file(course.path().join("tests/gone.rs")).unwrap();
    write(course.path(), "tests/week1_day1.rs", "// newer test\n");
    write(course.path(), REFERENCE, &A.replace("    pub fn two", "    /// Two.\n    pub fn two"));
    commit_all(course.path());
    update(None);
    assert_eq!(state(), before);
    assert_eq!(text(root, "tests/week1_day1.rs"), "// newer test\n");
    assert!(
        text(root, PATH).contains("    1\n}") && text(root, PATH).contains("/// Two."),
        "{}",
        text(root, PATH)
    );
    assert!(
        root.join("tests/added.rs").exists()
            && root.join("tests/staged.rs").exists()
            && !root.join("tests/gone.rs").exists()
    );
    let files = snapshot(root);
    update(None);
    update(course.path().to_str());
    update(Some("HEAD~1"));
    assert_eq!(snapshot(root), files, "an older course changes nothing");
}
