use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use tempfile::TempDir;

use super::{
    known::{RECORD, hash},
    merge::merge,
    *,
};
use crate::{
    borrow, files,
    stubs::{self, Generated, is_generated},
    testing::{A, CURRICULUM, curriculum, edit, repository, text, write},
};

mod from_git;
mod moves;

const PATH: &str = "src/week1/a.rs";

/// Returns a learner's repository with stubs, and a newer course without them. Both have the same
/// test, chapter and other files.
fn pair() -> (TempDir, TempDir) {
    let (learner, newer) = (repository(), repository());
    for root in [learner.path(), newer.path()] {
        write(root, "tests/week1_day1.rs", "// test\n");
        write(root, "book/src/week1/day1.md", "# Day 1\n");
        write(root, "course/src/main.rs", "fn main() {}\n");
    }
    stubs::write(learner.path(), &curriculum(), false).unwrap();
    (learner, newer)
}

/// Writes the record that an update to the present files would have left.
fn record(root: &Path) {
    let files = snapshot(root)
        .into_iter()
        .filter(|(path, _)| !is_generated(path))
        .map(|(path, content)| (path, hash(content.as_bytes())));
    write(root, RECORD, &Record { commit: None, files: files.collect() }.text());
}

fn snapshot(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeSet::new();
    files::list(root, Path::new(""), &mut found).unwrap();
    found
        .iter()
        .map(|path| (path.to_str().unwrap().to_owned(), text(root, path.to_str().unwrap())))
        .collect()
}

fn run(learner: &TempDir, newer: &TempDir) -> Result<()> {
    update(learner.path(), newer.path().to_str(), false)
}

/// Runs an update that must fail. Checks that it changes nothing, and returns its message.
fn refused(learner: &TempDir, newer: &TempDir) -> String {
    let before = snapshot(learner.path());
    let error = format!("{:#}", run(learner, newer).unwrap_err());
    assert_eq!(snapshot(learner.path()), before);
    error
}

const REFERENCE: &str = "reference/src/week1/a.rs";

#[test]
fn replaces_files_that_the_learner_has_not_changed() {
    let (learner, newer) = pair();
    write(
        newer.path(),
        REFERENCE,
        &A.replace("pub fn one() -> u32", "/// One.\npub fn one() -> u64")
            .replace("    1\n", "    7\n"),
    );
    write(newer.path(), "tests/week1_day1.rs", "// newer test\n");
    write(newer.path(), "tests/fixtures/new.bin", "\u{0}new");
    run(&learner, &newer).unwrap();
    let root = learner.path();
    assert!(text(root, PATH).starts_with(
        "/// One.\npub fn one() -> u64 {\n    todo!(\"week1-day1 task 1: one\")\n}\n"
    ));
    assert_eq!(text(root, "tests/fixtures/new.bin"), "\u{0}new");
    assert_eq!(text(root, REFERENCE), text(newer.path(), REFERENCE));
    assert_eq!(stubs::check(root, &curriculum()).unwrap().equal, 3);
    let after = snapshot(root);
    run(&learner, &newer).unwrap();
    assert_eq!(snapshot(root), after, "a second update changes nothing");
}

#[test]
fn a_dry_run_writes_nothing() {
    let (learner, newer) = pair();
    write(newer.path(), "tests/week1_day1.rs", "// newer test\n");
    let before = snapshot(learner.path());
    update(learner.path(), newer.path().to_str(), true).unwrap();
    assert_eq!(snapshot(learner.path()), before);
    assert!(!learner.path().join(".course").exists());
}

#[test]
fn keeps_a_body_when_the_code_around_it_changes() {
    for windows in [false, true] {
        let (learner, newer) = pair();
        let root = learner.path();
        edit(
            root,
            PATH,
            "        todo!(\"week1-day1 task 2: Two::two\")",
            "        // mine\n        let two = helper();\n        two",
        );
        edit(root, PATH, "pub struct Two;", "fn helper() -> u32 {\n    2\n}\n\npub struct Two;");
        if windows {
            write(root, PATH, &text(root, PATH).replace('\n', "\r\n"));
        }
        // The newer course has an additional first task, documentation, and other numbers: the
        // learner's task 2 is now task 3.
        let reference = A
            .replace("day1 task 2", "day1 task 3")
            .replace("    pub fn two", "    /// Two.\n    pub fn two")
            .replace("day1 task 1", "day1 task 2")
            + "\n\
               pub fn zero() -> u32 {\n    // SOLUTION week1-day1 task 1\n    0\n    // END \
               SOLUTION\n\
               }\n";
        write(newer.path(), REFERENCE, &reference);
        let task = |number: usize, function: &str| {
            format!(
                "[[week.day.task]]\n\
                 number = {number}\n\
                 title = \"T\"\n\
                 file = \"{PATH}\"\n\
                 functions = [\"{function}\"]\n\
                 goal = \"G.\"\n\
                 colour = \"red\"\n"
            )
        };
        let (head, rest) = CURRICULUM.split_once("[[week.day.task]]").unwrap();
        let list = format!(
            "{head}{}{}{}[[week.day]]{}",
            task(1, "zero"),
            task(2, "one"),
            task(3, "Two::two"),
            rest.split_once("[[week.day]]").unwrap().1
        );
        write(newer.path(), "course/curriculum.toml", &list);
        run(&learner, &newer).unwrap();
        let expected = "\
pub fn one() -> u32 {
    todo!(\"week1-day1 task 2: one\")
}

fn helper() -> u32 {
    2
}

pub struct Two;

impl Two {
    /// Two.
    pub fn two(&self) -> u32 {
        // mine
        let two = helper();
        two
    }
}

pub fn zero() -> u32 {
    todo!(\"week1-day1 task 1: zero\")
}
";
        assert_eq!(
            text(root, PATH),
            if windows { expected.replace('\n', "\r\n") } else { expected.to_owned() }
        );
    }
}

#[test]
fn rejects_a_new_signature_of_a_changed_function() {
    let (learner, newer) = pair();
    write(newer.path(), "tests/week1_day1.rs", "// newer test\n");
    write(newer.path(), REFERENCE, &A.replace("fn one() -> u32", "fn one(from: u32) -> u32"));
    for body in ["    // an idea\n    todo!(\"week1-day1 task 1: one\")", "    1"] {
        edit(learner.path(), PATH, "    todo!(\"week1-day1 task 1: one\")", body);
        assert!(refused(&learner, &newer).starts_with("nothing was changed"));
        edit(
            learner.path(),
            PATH,
            &format!("fn one() -> u32 {{\n{body}"),
            "fn one() -> u32 {\n    todo!(\"week1-day1 task 1: one\")",
        );
    }
    edit(
        learner.path(),
        PATH,
        "fn one() -> u32 {\n    todo!(\"week1-day1 task 1: one\")",
        "fn one(from: u32) -> u32 {\n    from + 1",
    );
    run(&learner, &newer).unwrap();
    assert!(
        text(learner.path(), PATH).contains("fn one(from: u32) -> u32 {\n    from + 1\n}"),
        "with the newer signature, the update succeeds"
    );
    assert_eq!(text(learner.path(), "tests/week1_day1.rs"), "// newer test\n");
}

#[test]
fn keeps_a_body_in_a_function_that_is_now_provided() {
    let provided = "pub fn one() -> u32 {\n    1\n}\n";
    let zero = "\npub fn zero() -> u32 {\n    // SOLUTION week1-day1 task 1\n    0\n    // END \
                SOLUTION\n}\n";
    let (_, rest) = A.split_once("}\n").unwrap();
    let list = CURRICULUM.replace("[\"one\"]", "[\"zero\"]");
    for written in [true, false] {
        let (learner, newer) = pair();
        let root = learner.path();
        let stub = "    todo!(\"week1-day1 task 1: one\")";
        if written {
            edit(root, PATH, stub, "    // mine\n    2 - 1");
        }
        write(newer.path(), REFERENCE, &format!("/// Provided.\n{provided}{rest}{zero}"));
        write(newer.path(), "course/curriculum.toml", &list);
        run(&learner, &newer).unwrap();
        let expected = if written {
            provided.replace("    1", "    // mine\n    2 - 1")
        } else {
            provided.to_owned()
        };
        assert!(text(root, PATH).starts_with(&format!("/// Provided.\n{expected}\npub struct")));
        let after = snapshot(root);
        run(&learner, &newer).unwrap();
        assert_eq!(snapshot(root), after, "a second update changes nothing");
    }
}

#[test]
fn conflict_shows_both_versions() {
    let (learner, newer) = pair();
    edit(
        learner.path(),
        PATH,
        "    todo!(\"week1-day1 task 1: one\")",
        "    // idea\n    todo!(\"week1-day1 task 1: one\")",
    );
    let template =
        |text: &str| crate::template::Template::parse(REFERENCE, text, &curriculum()).unwrap();
    let present = || {
        generated(learner.path(), &curriculum())
            .unwrap()
            .into_iter()
            .find(|file| file.path == PATH)
            .unwrap()
    };
    let conflicts =
        merge(&present(), &template(&A.replace("one() -> u32", "one() -> u8"))).unwrap_err();
    let expected = Conflict {
        what: "src/week1/a.rs: you have started or written one, and the newer course changes its \
               signature"
            .to_owned(),
        yours: "pub fn one() -> u32 {\n    // idea\n    todo!()\n}".to_owned(),
        newer: "pub fn one() -> u8 {\n    todo!()\n}".to_owned(),
    };
    assert_eq!(conflicts, [expected]);
    let shown = conflicts[0].shown();
    assert!(
        shown.contains("signature.\n  yours:\n    pub fn one() -> u32 {\n")
            && shown.contains("  the newer course's:\n    pub fn one() -> u8")
    );

    edit(learner.path(), PATH, "pub struct Two;", "pub struct Two(u8);");
    let conflicts =
        merge(&present(), &template(&A.replace("struct Two;", "struct Two {}"))).unwrap_err();
    assert_eq!(
        (conflicts[0].yours.as_str(), conflicts[0].newer.as_str()),
        ("pub struct Two(u8);", "pub struct Two {}")
    );
    write(newer.path(), REFERENCE, &A.replace("struct Two;", "struct Two {}"));
    refused(&learner, &newer);
}

#[test]
fn borrows_again_from_the_newer_reference() {
    let (learner, newer) = pair();
    let root = learner.path();
    let day1 = crate::selection::Words(vec!["week1-day1".to_owned()]);
    borrow::borrow(root, &curriculum(), &day1).unwrap();
    write(
        newer.path(),
        REFERENCE,
        &A.replace("    1\n", "    uno()\n").replace("one() -> u32", "one() -> u64").replace(
            "pub struct",
            "// SOLUTION week1-day1 task 1 (helper)\n\
             fn uno() -> u64 {\n    1\n\
             }\n\
             // END SOLUTION\n\n\
             pub struct",
        ),
    );
    run(&learner, &newer).unwrap();
    assert!(text(root, PATH).starts_with(
        "pub fn one() -> u64 {\n    // BORROWED week1-day1 task 1\n    uno()\n    // END BORROWED\n\
         }\n"
    ));
    assert!(text(root, PATH).contains("fn uno()"));
    borrow::give_back(root, &curriculum(), &day1, false).unwrap();
    assert_eq!(stubs::check(root, &curriculum()).unwrap().equal, 3);

    borrow::borrow(root, &curriculum(), &day1).unwrap();
    edit(root, PATH, "    uno()\n", "    uno() + 0\n");
    write(newer.path(), REFERENCE, A);
    refused(&learner, &newer);
}

#[test]
fn rejects_a_broken_course() {
    for (path, content, message) in [
        ("course/curriculum.toml", "[[week]]\nnumber = 2\n", "curriculum.toml is malformed: "),
        (
            REFERENCE,
            "// END SOLUTION\n",
            "reference/src/week1/a.rs:1: END SOLUTION without SOLUTION",
        ),
        (REFERENCE, "pub fn one() {}\n", "one has no region `// SOLUTION week1-day1 task 1`"),
    ] {
        let (learner, newer) = pair();
        write(newer.path(), path, content);
        let error = refused(&learner, &newer);
        assert!(
            error.contains("is broken; nothing was changed") && error.contains(message),
            "{error}"
        );
    }
    let (learner, _) = pair();
    let error = update(learner.path(), Some("nowhere"), false).unwrap_err().to_string();
    assert_eq!(error, "nowhere is neither a folder nor a git ref");
    let error = update(learner.path(), learner.path().to_str(), false).unwrap_err().to_string();
    assert!(error.contains("is the folder of this course"), "{error}");
}

/// Returns the next pseudo-random number below `n`.
fn draw(seed: &mut u64, n: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize % n
}

#[test]
fn merge_loses_no_line_of_either_side() {
    let template =
        |text: &str| crate::template::Template::parse(REFERENCE, text, &curriculum()).unwrap();
    let (mut merged, mut refused, mut seed) = (0, 0, 7);
    for _ in 0..200 {
        let stub = template(A).stub();
        // Inserts lines at some positions of both texts. The learner's lines may be inside bodies,
        // or replace a `todo!`.
        let mut ours: Vec<String> = stub.lines().map(str::to_owned).collect();
        let mut theirs: Vec<String> = A.lines().map(str::to_owned).collect();
        for n in 0..1 + draw(&mut seed, 4) {
            let at = draw(&mut seed, ours.len());
            if ours[at].trim().starts_with("todo!") && draw(&mut seed, 2) == 0 {
                ours[at] = format!("        let mine_{n} = ();");
            } else {
                ours.insert(at, format!("// mine_{n}"));
            }
        }
        for n in 0..1 + draw(&mut seed, 3) {
            let at = draw(&mut seed, theirs.len());
            if theirs[at].contains("fn ") && draw(&mut seed, 2) == 0 {
                theirs[at] = theirs[at].replace("u32", &format!("Theirs_{n}"));
            } else {
                theirs.insert(at, format!("// theirs_{n}"));
            }
        }
        let newer = template(&(theirs.join("\n") + "\n"));
        let raw = ours.join("\n") + "\n";
        let present = Generated {
            path: PATH.into(),
            template: template(A),
            stub,
            current: Some(raw.clone()),
            raw: Some(raw.clone()),
        };
        let lines = |text: &str, word: &str| -> BTreeSet<String> {
            text.lines()
                .filter(|line| line.contains(word))
                .map(|line| line.trim().to_owned())
                .collect()
        };
        match merge(&present, &newer) {
            Ok(text) => {
                assert_eq!(
                    lines(&text, "mine_"),
                    lines(&raw, "mine_"),
                    "of the learner's\n{raw}\n\n{}\n\n{text}",
                    newer.stub()
                );
                assert_eq!(
                    lines(&text, "heirs_"),
                    lines(&newer.stub(), "heirs_"),
                    "of the newer course's\n{raw}\n\n{}\n\n{text}",
                    newer.stub()
                );
                merged += 1;
            }
            Err(conflicts) => {
                assert!(!conflicts.is_empty());
                refused += 1;
            }
        }
    }
    assert!(merged > 20 && refused > 20, "{merged} merged, {refused} refused");
}
