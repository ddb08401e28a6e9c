//! Tests with files that the newer course renames or removes.

use super::*;
use crate::replace::replace;

/// Returns the contents of the files in `.course/recovery`, by path.
fn kept(root: &Path) -> BTreeMap<String, String> {
    let Ok(mut folders) = fs::read_dir(root.join(".course/recovery")) else {
        return BTreeMap::new();
    };
    snapshot(&folders.next().unwrap().unwrap().path())
}

/// Renames `a.rs` to `tens.rs` in the newer course.
fn rename(newer: &TempDir) {
    let root = newer.path();
    write(root, "reference/src/week1/tens.rs", A);
    fs::remove_file(root.join(REFERENCE)).unwrap();
    write(root, "course/curriculum.toml", &CURRICULUM.replace("week1/a.rs", "week1/tens.rs"));
}

#[test]
fn moves_work_to_a_renamed_file() {
    let (learner, newer) = pair();
    let root = learner.path();
    edit(root, PATH, "    todo!(\"week1-day1 task 1: one\")", "    // mine\n    1");
    let mine = text(root, PATH);
    record(root);
    rename(&newer);
    run(&learner, &newer).unwrap();
    assert_eq!(text(root, "src/week1/tens.rs"), mine);
    assert!(!root.join(PATH).exists() && !root.join(REFERENCE).exists());
    assert_eq!(kept(root), BTreeMap::from([(PATH.to_owned(), mine)]));
}

#[test]
fn matches_renamed_files_with_the_same_functions() {
    let (learner, newer) = pair();
    let root = learner.path();
    let other =
        A.replace("pub struct Two;", "pub struct Two(u8);").replace("day1 task", "day9 task");
    write(root, "reference/src/week1/a2.rs", &other);
    stubs::write(root, &curriculum(), false).unwrap();
    for path in [PATH, "src/week1/a2.rs"] {
        let todo = text(root, path).lines().nth(1).unwrap().to_owned();
        edit(root, path, &todo, &format!("    // mine in {path}\n    1"));
    }
    rename(&newer);
    write(newer.path(), "reference/src/week1/tens2.rs", &other);
    run(&learner, &newer).unwrap();
    assert!(text(root, "src/week1/tens.rs").contains("// mine in src/week1/a.rs"));
    assert!(text(root, "src/week1/tens2.rs").contains("// mine in src/week1/a2.rs"));
}

#[test]
fn rejects_a_rename_onto_a_learners_file() {
    let (learner, newer) = pair();
    let root = learner.path();
    edit(root, PATH, "    todo!(\"week1-day1 task 1: one\")", "    // mine\n    1");
    write(root, "src/week1/tens.rs", "// mine alone\n");
    rename(&newer);
    assert!(refused(&learner, &newer).contains("nothing was changed"));
}

#[test]
fn keeps_changed_files_in_recovery_and_added_files_in_place() {
    let (learner, newer) = pair();
    let root = learner.path();
    for path in ["tests/gone.rs", "tests/gone_mine.rs"] {
        write(root, path, "// was in the course\n");
    }
    record(root);
    write(root, "tests/week1_day1.rs", "// my test\n");
    write(root, "tests/gone_mine.rs", "// my other test\n");
    write(root, "tests/added.rs", "// mine alone\n");
    write(root, "src/week1/added.rs", "// mine alone\n");
    write(newer.path(), "tests/week1_day1.rs", "// newer test\n");
    write(newer.path(), "book/src/week1/day1.md", "# The first day\n");
    run(&learner, &newer).unwrap();
    assert_eq!(text(root, "tests/week1_day1.rs"), "// newer test\n");
    assert!(!root.join("tests/gone_mine.rs").exists() && !root.join("tests/gone.rs").exists());
    assert_eq!(
        (text(root, "tests/added.rs"), text(root, "src/week1/added.rs")),
        ("// mine alone\n".into(), "// mine alone\n".into())
    );
    let mine = [
        ("tests/week1_day1.rs".to_owned(), "// my test\n".to_owned()),
        ("tests/gone_mine.rs".to_owned(), "// my other test\n".to_owned()),
    ];
    assert_eq!(kept(root), BTreeMap::from(mine));
}

#[test]
fn rejects_a_new_stub_with_the_name_of_a_learners_file() {
    let (learner, newer) = pair();
    write(learner.path(), "src/week1/c.rs", "// mine\n");
    write(newer.path(), "reference/src/week1/c.rs", "// theirs\n");
    refused(&learner, &newer);
    write(learner.path(), "src/week1/c.rs", "// theirs\n");
    run(&learner, &newer).unwrap();
}

#[test]
fn keeps_a_removed_file_only_if_it_has_work() {
    for written in [true, false] {
        let (learner, newer) = pair();
        let root = learner.path();
        let (list, _) = CURRICULUM.rsplit_once("[[week.day]]").unwrap();
        write(newer.path(), "course/curriculum.toml", list);
        fs::remove_file(newer.path().join("reference/src/week1/b.rs")).unwrap();
        record(root);
        if written {
            edit(root, "src/week1/b.rs", "    todo!(\"week1-day2 task 1: three\")", "    3");
        }
        let mine = text(root, "src/week1/b.rs");
        run(&learner, &newer).unwrap();
        assert!(
            ["", "reference/"]
                .iter()
                .all(|tree| { !root.join(format!("{tree}src/week1/b.rs")).exists() })
        );
        let expected = if written {
            BTreeMap::from([("src/week1/b.rs".into(), mine)])
        } else {
            BTreeMap::new()
        };
        assert_eq!(kept(root), expected);
        assert!(generated(root, &Curriculum::load(root).unwrap()).is_ok(), "it can be read");
    }
}

/// Returns a learner's repository and a newer course. In the newer course, `a.rs` has moved to a
/// folder and has changed, `mod.rs` has changed accordingly, and two provided files have moved to
/// `provided/`.
fn rearranged() -> (TempDir, TempDir) {
    let (learner, newer) = (repository(), repository());
    let modules = "//! Provided.\n\npub mod a;\npub mod b;\nmod table;\nmod unit;\n";
    write(learner.path(), "reference/src/week1/mod.rs", modules);
    for name in ["table", "unit"] {
        let provided = "//! Provided.\n\npub fn size() -> u32 {\n    3\n}\n";
        write(learner.path(), &format!("reference/src/week1/{name}.rs"), provided);
        write(newer.path(), &format!("provided/week1/{name}.rs"), provided);
    }
    stubs::write(learner.path(), &curriculum(), false).unwrap();
    record(learner.path());

    let moved = CURRICULUM.replace("week1/a.rs", "week1/counting/a.rs");
    write(newer.path(), "course/curriculum.toml", &moved);
    fs::remove_file(newer.path().join(REFERENCE)).unwrap();
    let changed = A.replace("pub fn one", "/// One.\npub fn one").replace("    2\n", "    1 + 1\n");
    write(newer.path(), "reference/src/week1/counting/a.rs", &changed);
    write(newer.path(), "reference/src/week1/counting/mod.rs", "//! Provided.\n\npub mod a;\n");
    let modules = "//! Provided.\n\npub mod b;\npub mod counting;\n\npub use counting::a;\n";
    write(newer.path(), "reference/src/week1/mod.rs", modules);
    write(newer.path(), "tests/week1_day1.rs", "// newer test\n");

    // The first task is partly written, the second is borrowed, and the third is written.
    let root = learner.path();
    let second = crate::selection::Words(vec!["week1-day1".to_owned(), "2".to_owned()]);
    borrow::borrow(root, &curriculum(), &second).unwrap();
    fs::remove_dir_all(root.join(".course/recovery")).unwrap();
    edit(root, PATH, "    todo!(\"week1-day1 task 1", "    // mine\n    todo!(\"week1-day1 task 1");
    edit(root, "src/week1/b.rs", "    todo!(\"week1-day2 task 1: three\")", "    3");
    edit(root, "src/week1/unit.rs", "    3\n", "    4\n");
    (learner, newer)
}

const REARRANGED: &str = "\
/// One.
pub fn one() -> u32 {
    // mine
    todo!(\"week1-day1 task 1: one\")
}

pub struct Two;

impl Two {
    pub fn two(&self) -> u32 {
        // BORROWED week1-day1 task 2
        1 + 1
        // END BORROWED
    }
}
";

#[test]
fn a_rearranged_tree_keeps_every_body() {
    let (learner, newer) = rearranged();
    let root = learner.path();
    run(&learner, &newer).unwrap();
    assert_eq!(text(root, "src/week1/counting/a.rs"), REARRANGED);
    assert_eq!(text(root, "src/week1/b.rs"), "pub fn three() -> u32 {\n    3\n}\n");
    let files: Vec<String> = snapshot(&root.join("src/week1")).into_keys().collect();
    assert_eq!(files, ["b.rs", "counting/a.rs", "counting/mod.rs", "mod.rs"]);
    assert!(kept(root)["src/week1/unit.rs"].contains("    4\n"), "the learner's change");
    assert!(!kept(root).contains_key("src/week1/table.rs"), "the learner had not changed it");
    let curriculum = Curriculum::load(root).unwrap();
    assert_eq!(stubs::check(root, &curriculum).unwrap(), stubs::Checked { equal: 2, yours: 2 });
}

#[test]
fn the_next_update_completes_an_interrupted_one() {
    let tree = |learner: &TempDir| {
        let mut tree = snapshot(learner.path());
        tree.insert(RECORD.into(), text(learner.path(), RECORD));
        tree
    };
    let (learner, newer) = rearranged();
    run(&learner, &newer).unwrap();
    let (whole, mut n) = (tree(&learner), 0);
    loop {
        let (learner, newer) = rearranged();
        let root = learner.path();
        let course = newer::read(root, newer.path().to_str()).unwrap();
        let present = generated(root, &curriculum()).unwrap();
        let known = Known(vec![Record::read(root).unwrap().files]);
        let changes = Plan::new(root, &course, &present, &known).unwrap().changes;
        replace(root, &mut files::Recovery::new(root), &changes[..n]).unwrap();
        run(&learner, &newer).unwrap();
        assert_eq!(tree(&learner), whole, "after {n} of {} files", changes.len());
        n += 1;
        if n > changes.len() {
            break;
        }
    }
    assert!(n > 10, "{n}");
}
