use super::*;
use crate::testing::write;

fn read(root: &Path, path: &str) -> Option<String> {
    fs::read_to_string(root.join(path)).ok()
}

/// `a` is replaced, `b/b` is new, `c/c` is removed.
fn planned() -> (tempfile::TempDir, Transaction) {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "a", "old a");
    write(root.path(), "c/c", "old c");
    let mut transaction = Transaction::new(root.path(), "test");
    transaction.replace("a", Some(b"old a"), Some(b"new a"));
    transaction.replace("b/b", None, Some(b"new b"));
    transaction.replace("c/c", Some(b"old c"), None);
    (root, transaction)
}

fn all_new(root: &Path) {
    assert_eq!(
        ["a", "b/b", "c/c"].map(|path| read(root, path)),
        [Some("new a".into()), Some("new b".into()), None]
    );
    assert!(!root.join("c").exists() && !root.join(FOLDER).exists());
}

#[test]
fn hashes_are_gits() {
    assert_eq!(hash(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
}

#[test]
fn all_is_done_and_what_was_replaced_is_kept() {
    let (root, transaction) = planned();
    let done = transaction.commit().unwrap();
    all_new(root.path());
    let kept = root.path().join(done.recovery.unwrap());
    assert_eq!(
        (read(&kept, "a"), read(&kept, "c/c")),
        (Some("old a".into()), Some("old c".into()))
    );
    assert!(done.left.is_empty() && recover(root.path()).unwrap().is_empty());
}

#[test]
fn a_decided_transaction_is_finished_from_every_point() {
    for renamed in 0..3 {
        let (root, transaction) = planned();
        let committed = transaction.decide().unwrap();
        if renamed > 0 {
            fs::rename(committed.join("new/0"), root.path().join("a")).unwrap();
        }
        if renamed > 1 {
            fs::rename(committed.join("kept"), root.path().join("kept")).unwrap();
        }
        assert_eq!(
            recover(root.path()).unwrap(),
            ["`cargo course test` had been interrupted; it is now complete."]
        );
        all_new(root.path());
        assert!(recover(root.path()).unwrap().is_empty());
    }
}

#[test]
fn an_undecided_one_is_discarded() {
    let (root, transaction) = planned();
    let committed = transaction.decide().unwrap();
    fs::rename(&committed, committed.with_file_name("staging-7")).unwrap();
    let lines = recover(root.path()).unwrap();
    assert!(lines.len() == 1 && lines[0].contains("before it changed anything"), "{lines:?}");
    assert_eq!(
        ["a", "b/b", "c/c"].map(|path| read(root.path(), path)),
        [Some("old a".into()), None, Some("old c".into())]
    );
    assert!(!root.path().join(FOLDER).exists());
}

#[test]
fn a_file_that_changed_after_the_crash_is_left_alone() {
    let (root, transaction) = planned();
    transaction.decide().unwrap();
    write(root.path(), "a", "mine");
    write(root.path(), "c/c", "mine too");
    let lines = recover(root.path()).unwrap();
    assert!(
        lines[1].starts_with("a was changed meanwhile and stays as it is")
            && lines[2].starts_with("c/c was changed"),
        "{lines:?}"
    );
    assert_eq!(
        (read(root.path(), "a"), read(root.path(), "c/c")),
        (Some("mine".into()), Some("mine too".into()))
    );
    let folder = lines[1].rsplit_once(" in ").unwrap().1.trim_end_matches('.');
    assert_eq!(read(&root.path().join(folder), "a"), Some("new a".into()));
    assert_eq!(read(root.path(), "b/b"), Some("new b".into()));
}

#[test]
fn a_file_that_changed_while_planning_stops_it() {
    let (root, transaction) = planned();
    write(root.path(), "c/c", "mine");
    let error = transaction.commit().unwrap_err().to_string();
    assert_eq!(error, "c/c was changed while this command ran; nothing was written, run it again");
    assert_eq!(read(root.path(), "a"), Some("old a".into()));
    assert!(!root.path().join(FOLDER).exists());
}

#[test]
fn a_journal_of_another_format_is_not_guessed_at() {
    let (root, transaction) = planned();
    let journal = transaction.decide().unwrap().join("journal.json");
    fs::write(
        &journal,
        fs::read_to_string(&journal).unwrap().replace("\"format\": 1", "\"format\": 2"),
    )
    .unwrap();
    let error = format!("{:#}", recover(root.path()).unwrap_err());
    assert!(error.contains("journal.json cannot be read: format 2 found, 1 expected"), "{error}");
    assert_eq!(read(root.path(), "a"), Some("old a".into()));
}
