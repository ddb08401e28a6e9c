use std::fs;

use super::*;
use crate::{
    marks::put_in,
    stubs,
    template::Template,
    testing::{self, curriculum, kept, repository, write},
};

/// A file of the reference: `one` calls `helper`, which calls `base`. `Two::two` calls only `base`.
const A: &str = "\
pub fn one() -> u32 {
    // SOLUTION week1-day1 task 1
    let one = helper();

    one
    // END SOLUTION
}

// SOLUTION week1-day1 task 1 (helper)
fn helper() -> u32 {
    base()
}
// END SOLUTION

pub struct Two;

impl Two {
    pub fn two(&self) -> u32 {
        // SOLUTION week1-day1 task 2
        base() + base()
        // END SOLUTION
    }
}

// SOLUTION week1-day1 task 2 (helper)
fn base() -> u32 {
    1
}
// END SOLUTION
";

const PATH: &str = "src/week1/a.rs";

/// Creates a repository whose reference contains [`A`], and writes its stubs.
fn course() -> tempfile::TempDir {
    let root = repository();
    write(root.path(), "reference/src/week1/a.rs", A);
    stubs::write(root.path(), &curriculum(), false).unwrap();
    root
}

fn words(text: &str) -> Words {
    Words(text.split(' ').map(str::to_owned).collect())
}

fn of_day1(task: Option<usize>) -> Words {
    words(&task.map_or("week1-day1".to_owned(), |task| format!("week1-day1 {task}")))
}

fn text(root: &Path) -> String {
    testing::text(root, PATH)
}

fn edit(root: &Path, from: &str, to: &str) {
    testing::edit(root, PATH, from, to);
}

fn lend(root: &Path, task: Option<usize>) -> Result<()> {
    borrow(root, &curriculum(), &of_day1(task))
}

fn take(root: &Path, task: Option<usize>, force: bool) -> Result<()> {
    give_back(root, &curriculum(), &of_day1(task), force)
}

#[test]
fn borrows_a_task_with_the_helpers_it_needs() {
    let root = course();
    lend(root.path(), Some(2)).unwrap();
    let expected = "\
pub fn one() -> u32 {
    todo!(\"week1-day1 task 1: one\")
}

pub struct Two;

impl Two {
    pub fn two(&self) -> u32 {
        // BORROWED week1-day1 task 2
        base() + base()
        // END BORROWED
    }
}

// BORROWED week1-day1 task 2 (helper)
fn base() -> u32 {
    1
}
// END BORROWED
";
    assert_eq!(text(root.path()), expected);
    lend(root.path(), Some(1)).unwrap();
    let both = text(root.path());
    assert!(
        both.starts_with(
            "pub fn one() -> u32 {\n    // BORROWED week1-day1 task 1\n    let one = \
             helper();\n\n    one\n    // END"
        ),
        "{both}"
    );
    assert_eq!((both.matches("fn base()").count(), both.matches("fn helper()").count()), (1, 1));
    take(root.path(), Some(1), false).unwrap();
    assert_eq!(text(root.path()), expected, "the helper that task 2 needs stays");
}

#[test]
fn return_restores_the_same_bytes() {
    let edits: [fn(String) -> String; 6] = [
        |stub| stub,
        |stub| stub.replace('\n', "\r\n"),
        |stub| stub.trim_end().to_owned(),
        |stub| stub.trim_end().replace('\n', "\r\n"),
        |stub| stub.replace("one\")\n", "one\")  \n\n") + "\n\n// mine\n\n",
        |stub| {
            stub.replace("        todo!", "      todo!")
                .replace("pub struct Two;\n", "pub struct Two;\r\n")
        },
    ];
    for (n, edit) in edits.into_iter().enumerate() {
        for order in [[Some(1), Some(2)], [Some(2), Some(1)]] {
            let root = course();
            let before = edit(text(root.path()));
            write(root.path(), PATH, &before);
            lend(root.path(), None).unwrap();
            assert_eq!(text(root.path()).contains("\r\n"), before.contains("\r\n"));
            if before.contains("\r\n") && n != 5 {
                assert_eq!(
                    text(root.path()).matches('\n').count(),
                    text(root.path()).matches("\r\n").count()
                );
            }
            for task in order {
                assert_ne!(text(root.path()), before);
                take(root.path(), task, false).unwrap();
            }
            assert_eq!(text(root.path()), before, "edit {n}");
        }
    }
}

#[test]
fn leaves_functions_that_the_learner_has_begun() {
    let root = course();
    edit(
        root.path(),
        "    todo!(\"week1-day1 task 1: one\")",
        "    // an idea\n    todo!(\"week1-day1 task 1: one\")",
    );
    let before = text(root.path());
    let error = lend(root.path(), Some(1)).unwrap_err().to_string();
    assert_eq!(error, "no function in week1-day1 1 is still a stub, so there is nothing to borrow");
    assert_eq!(text(root.path()), before);
    lend(root.path(), None).unwrap();
    assert!(
        text(root.path()).contains("// an idea\n    todo!")
            && text(root.path()).contains("base() + base()")
    );
    assert!(
        lend(root.path(), None).unwrap_err().to_string().contains("nothing to borrow"),
        "twice"
    );
    take(root.path(), None, false).unwrap();
    assert_eq!(text(root.path()), before);
    assert_eq!(
        take(root.path(), None, false).unwrap_err().to_string(),
        "found no code from `cargo course borrow` in week1-day1, so there is nothing to return"
    );
}

#[test]
fn returns_a_changed_body_only_with_force() {
    let root = course();
    let stub = text(root.path());
    for (from, to, name) in [
        ("let one = helper", "let uno = helper", ":2: one"),
        ("    1\n}", "    2\n}", "a helper of week1-day1 task 2"),
    ] {
        lend(root.path(), None).unwrap();
        edit(root.path(), from, to);
        let edited = text(root.path());
        let error = take(root.path(), None, false).unwrap_err().to_string();
        assert!(
            error.contains("you have changed borrowed code") && error.contains(name),
            "{error}"
        );
        assert_eq!(text(root.path()), edited);
        let error = stubs::write(root.path(), &curriculum(), false).unwrap_err().to_string();
        assert!(error.contains(name.trim_start_matches(":2: ")), "{error}");
        assert_eq!(text(root.path()), edited, "`stubs` also counts it as work");
        take(root.path(), None, true).unwrap();
        assert_eq!(text(root.path()), stub);
        let kept = kept(root.path(), PATH);
        assert!(kept.contains(&edited), "{kept:?}");
    }
}

#[test]
fn return_rejects_an_unclosed_mark() {
    let root = course();
    lend(root.path(), Some(2)).unwrap();
    edit(root.path(), "        // END BORROWED\n", "");
    let edited = text(root.path());
    let error = take(root.path(), None, true).unwrap_err().to_string();
    assert_eq!(
        error,
        "src/week1/a.rs:9: `// BORROWED week1-day1 task 2` without `// END BORROWED`; nothing was \
         changed. Add `// END BORROWED` after the borrowed code"
    );
    assert!(stubs::write(root.path(), &curriculum(), false).is_err());
    assert_eq!(text(root.path()), edited);
}

#[test]
fn rejects_a_helper_that_the_learner_also_defines() {
    let root = course();
    edit(root.path(), "pub struct Two;", "fn base() -> u8 {\n    3\n}\n\npub struct Two;");
    let before = text(root.path());
    let error = format!("{:#}", lend(root.path(), None).unwrap_err());
    assert!(error.starts_with("src/week1/a.rs: you define `base`"), "{error}");
    assert_eq!(text(root.path()), before);
}

#[test]
fn stubs_keep_borrowed_code() {
    let root = course();
    let stub = text(root.path());
    lend(root.path(), Some(2)).unwrap();
    let borrowed = text(root.path());
    let state = |function| {
        generated(root.path(), &curriculum())
            .unwrap()
            .iter()
            .find(|file| file.path == PATH)
            .unwrap()
            .state(function)
    };
    assert_eq!((state("one"), state("Two::two")), (State::Untouched, State::Borrowed));
    assert_eq!(stubs::check(root.path(), &curriculum()).unwrap().equal, 3);
    stubs::write(root.path(), &curriculum(), false).unwrap();
    assert_eq!(text(root.path()), borrowed);

    write(
        root.path(),
        "reference/src/week1/a.rs",
        &A.replace("pub struct Two", "/// Two.\npub struct Two"),
    );
    stubs::write(root.path(), &curriculum(), false).unwrap();
    assert_eq!(
        text(root.path()),
        borrowed.replace("pub struct Two", "/// Two.\npub struct Two"),
        "everything else is regenerated"
    );
    edit(root.path(), "        base() + base()", "        base() + 1");
    assert_eq!(state("Two::two"), State::Written, "now it counts as the learner's");

    stubs::write(root.path(), &curriculum(), true).unwrap();
    assert_eq!(text(root.path()), stub.replace("pub struct Two", "/// Two.\npub struct Two"));
}

#[test]
fn every_task_can_be_borrowed_and_returned() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let curriculum = Curriculum::load(root).unwrap();
    for (id, task) in curriculum.tasks() {
        let path = format!("reference/{}", task.file);
        let template =
            Template::parse(&path, &fs::read_to_string(root.join(&path)).unwrap(), &curriculum)
                .unwrap();
        let stub = template.stub();
        let (text, functions) = put_in(&template, &stub, |asked, _| *asked == id).unwrap();
        let listed = template
            .regions()
            .filter(|region| region.task == id && region.function.is_some())
            .count();
        assert_eq!(functions.len(), listed, "{id}");
        assert!(marks::marks(&template, &text).iter().all(|mark| mark.intact), "{id}: {text}");
        assert_eq!(marks::take_out(&template, &text, |_| true).0, stub, "{id}");
    }
}

#[test]
fn borrows_all_days_before_a_day() {
    let root = course();
    let before = text(root.path());
    let first =
        borrow_before(root.path(), &curriculum(), &words("week1-day1")).unwrap_err().to_string();
    assert_eq!(first, "week1-day1 is the first day: there is no earlier day to borrow from");
    borrow_before(root.path(), &curriculum(), &words("week1-day2")).unwrap();
    assert_eq!(
        text(root.path()).matches("// BORROWED week1-day1").count(),
        4,
        "two tasks and two helpers"
    );
    take(root.path(), None, false).unwrap();
    assert_eq!(text(root.path()), before);
}
