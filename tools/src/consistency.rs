//! Checks that everything that repeats the curriculum agrees with it: Cargo's features and tests,
//! the stubs, the oracle, the book.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::{
    curriculum::{self, Curriculum, Day},
    hint,
    libtest::{task_of_test, tests_of_tasks},
    stubs,
};

/// Returns everything that disagrees with the curriculum, one line each.
///
/// # Errors
/// If `Cargo.toml` cannot be read.
pub(crate) fn problems(root: &Path, curriculum: &Curriculum) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let manifest =
        fs::read_to_string(root.join("Cargo.toml")).context("Cargo.toml cannot be read")?;
    let manifest: Table = manifest.parse().context("Cargo.toml is malformed")?;
    features(&manifest, curriculum, &mut problems);
    editors(root, curriculum, &mut problems);
    for day in curriculum.days() {
        test_target(&manifest, day, &mut problems);
        test_functions(root, day, &mut problems);
        let start_here = fs::read_to_string(root.join("tests/start_here.rs")).unwrap_or_default();
        if !start_here.contains(&format!("feature = {:?}", day.feature)) {
            problems
                .push(format!("tests/start_here.rs: does not know the feature {}", day.feature));
        }
        chapter(root, day, &mut problems);
        let fresh = format!("tests/fresh/{}.rs", day.module());
        let text = fs::read_to_string(root.join(&fresh)).unwrap_or_default();
        for (id, _) in day.tasks() {
            if !text.contains(&format!("\nfn task_{}()", id.task)) {
                problems.push(format!("{fresh}: no fn task_{}, so {id} cannot be graded", id.task));
            }
        }
        let oracle = format!("python-ref/oracle/{}.py", day.module());
        if !root.join(&oracle).is_file() {
            problems.push(format!(
                "{oracle}: missing; it computes the expected values of {}",
                day.feature
            ));
        }
    }
    match stubs::generated(root, curriculum) {
        Ok(files) => {
            for file in &files {
                let unlisted = file.template.unlisted(curriculum);
                problems.extend(unlisted.iter().map(|(id, line)| {
                    format!("reference/{}:{line}: {} has no {id}", file.path, curriculum::PATH)
                }));
            }
        }
        Err(error) => problems.push(format!("{error:#}")),
    }
    // There may be no hints, but if the folder exists, it must be complete.
    if root.join(hint::FOLDER).exists() {
        problems.extend(hint::problems(root, curriculum));
    }
    Ok(problems)
}

fn features(manifest: &Table, curriculum: &Curriculum, problems: &mut Vec<String>) {
    let empty = Table::new();
    let features = manifest.get("features").and_then(Value::as_table).unwrap_or(&empty);
    let of_course = |name: &&str| name.starts_with("week");
    let found: BTreeSet<&str> = features.keys().map(String::as_str).filter(of_course).collect();
    let weeks: Vec<String> =
        curriculum.weeks.iter().map(|week| format!("week{}", week.number)).collect();
    let expected: BTreeSet<&str> = curriculum
        .days()
        .map(|day| day.feature.as_str())
        .chain(weeks.iter().map(String::as_str))
        .collect();
    problems
        .extend(expected.difference(&found).map(|name| format!("Cargo.toml: no feature {name}")));
    problems.extend(
        found
            .difference(&expected)
            .map(|name| format!("Cargo.toml: feature {name} is not in the curriculum")),
    );
    for (week, umbrella) in curriculum.weeks.iter().zip(&weeks) {
        let together = week.days.iter().filter(|day| day.apart.is_none());
        let days: Vec<&str> = together.map(|day| day.feature.as_str()).collect();
        if features.get(umbrella).is_some_and(|listed| strings(listed) != days) {
            problems
                .push(format!("Cargo.toml: feature {umbrella} should list {}", days.join(", ")));
        }
    }
}

/// Checks that the editors' settings enable every week.
fn editors(root: &Path, curriculum: &Curriculum, problems: &mut Vec<String>) {
    for path in [".vscode/settings.json", "rust-analyzer.toml"] {
        let text = fs::read_to_string(root.join(path)).unwrap_or_default();
        let weeks = curriculum.weeks.iter().map(|week| format!("\"week{}\"", week.number));
        problems.extend(
            weeks.filter(|week| !text.contains(week)).map(|week| format!("{path}: lacks {week}")),
        );
    }
}

fn test_target(manifest: &Table, day: &Day, problems: &mut Vec<String>) {
    let (name, path) = (day.module(), format!("tests/{}.rs", day.module()));
    let targets = manifest.get("test").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let Some(target) =
        targets.iter().find(|target| target.get("name").and_then(Value::as_str) == Some(&name))
    else {
        problems.push(format!("Cargo.toml: no [[test]] named {name}"));
        return;
    };
    if target.get("path").and_then(Value::as_str) != Some(&path) {
        problems.push(format!("Cargo.toml: [[test]] {name} should have path = {path:?}"));
    }
    if target.get("required-features").map(strings) != Some(vec![day.feature.as_str()]) {
        problems.push(format!(
            "Cargo.toml: [[test]] {name} should have required-features = [{:?}]",
            day.feature
        ));
    }
}

/// Checks that every task has tests, named `task_K_…`, and that every test belongs to an existing
/// task.
fn test_functions(root: &Path, day: &Day, problems: &mut Vec<String>) {
    let path = format!("tests/{}.rs", day.module());
    let Ok(text) = fs::read_to_string(root.join(&path)) else {
        problems.push(format!("{path}: missing"));
        return;
    };
    let mut tested = BTreeSet::new();
    let read = |file: &String| fs::read_to_string(root.join(file)).unwrap_or_default();
    let files: Vec<String> = day.test_files(root);
    let texts: Vec<String> = files.iter().map(read).collect();
    for (file, text_of_file) in files.iter().zip(&texts) {
        // A file that is not a module is never compiled, so its tests never run.
        let module = file.trim_start_matches("tests/");
        let name = module.rsplit('/').next().unwrap_or(module);
        let is_module = text.contains(&format!("#[path = {module:?}]\nmod "))
            || texts.iter().any(|text| text.contains(&format!("#[path = {name:?}]\n")));
        if *file != path && !is_module {
            problems.push(format!("{path}: {module} is not a module of this file"));
        }
        tested.extend(tests_of_tasks(text_of_file).filter_map(task_of_test));
    }
    for task in &day.tasks {
        if !tested.contains(&task.number) {
            problems.push(format!("{path}: no test named task_{}_…", task.number));
        }
    }
    for number in tested.iter().filter(|&&number| number > day.tasks.len()) {
        problems.push(format!(
            "{path}: tests named task_{number}_…, but {} has {} tasks",
            day.feature,
            day.tasks.len()
        ));
    }
}

/// Checks that the day's chapter is in the book's navigation, and names the functions and the
/// command of each task.
fn chapter(root: &Path, day: &Day, problems: &mut Vec<String>) {
    let summary = fs::read_to_string(root.join("book/src/SUMMARY.md")).unwrap_or_default();
    let link = day.chapter.trim_start_matches("book/src/");
    if !summary.contains(&format!("({link})")) {
        problems.push(format!("book/src/SUMMARY.md: no link to {link}"));
    }
    let Ok(text) = fs::read_to_string(root.join(&day.chapter)) else {
        problems.push(format!("{}: missing", day.chapter));
        return;
    };
    for task in &day.tasks {
        let command = format!("cargo test --features {} task_{}", day.feature, task.number);
        if !text.contains(&command) {
            problems.push(format!(
                "{}: task {} lacks its command, `{command}`",
                day.chapter, task.number
            ));
        }
        for function in &task.functions {
            if !text.contains(function.rsplit("::").next().unwrap_or(function)) {
                problems.push(format!(
                    "{}: task {} does not name {function}",
                    day.chapter, task.number
                ));
            }
        }
    }
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().map_or(&[][..], Vec::as_slice).iter().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{curriculum, repository, write};

    const MANIFEST: &str = r#"
[features]
cli = []
week1 = ["week1-day1", "week1-day2"]
week1-day1 = []
week1-day2 = []
[[test]]
name = "week1_day1"
path = "tests/week1_day1.rs"
required-features = ["week1-day1"]
[[test]]
name = "week1_day2"
path = "tests/week1_day2.rs"
required-features = ["week1-day2"]
"#;

    fn sound() -> tempfile::TempDir {
        let folder = repository();
        for (path, text) in [
            ("Cargo.toml", MANIFEST),
            ("tests/week1_day1.rs", "fn task_1_counts() {}\nfn task_2_counts() {}\n"),
            ("tests/week1_day2.rs", "#[path = \"week1_day2/task_1.rs\"]\nmod task_1;\n"),
            ("tests/week1_day2/task_1.rs", "    fn task_1_counts() {}\n"),
            ("tests/start_here.rs", "feature = \"week1-day1\", feature = \"week1-day2\""),
            ("tests/fresh/week1_day1.rs", "\nfn task_1() {}\nfn task_2() {}\n"),
            ("tests/fresh/week1_day2.rs", "\nfn task_1() {}\n"),
            (".vscode/settings.json", "\"week1\""),
            ("rust-analyzer.toml", "\"week1\""),
            ("python-ref/oracle/week1_day1.py", ""),
            ("python-ref/oracle/week1_day2.py", ""),
            ("book/src/SUMMARY.md", "- [Counting](week1/day1.md)\n- [More](week1/day2.md)\n"),
            (
                "book/src/week1/day1.md",
                "one: cargo test --features week1-day1 task_1\n\
                 `two`: cargo test --features week1-day1 task_2\n",
            ),
            ("book/src/week1/day2.md", "three: cargo test --features week1-day2 task_1\n"),
        ] {
            write(folder.path(), path, text);
        }
        folder
    }

    #[test]
    fn this_repository_is_consistent() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let curriculum = Curriculum::load(root).unwrap();
        assert_eq!(problems(root, &curriculum).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn problems_names_each_disagreement() {
        let root = sound();
        assert_eq!(problems(root.path(), &curriculum()).unwrap(), Vec::<String>::new());
        for (path, from, to, message) in [
            ("Cargo.toml", "week1-day2 = []", "", "Cargo.toml: no feature week1-day2"),
            (
                "Cargo.toml",
                "cli = []",
                "week1-day3 = []",
                "Cargo.toml: feature week1-day3 is not in the curriculum",
            ),
            (
                "Cargo.toml",
                r#"["week1-day1", "week1-day2"]"#,
                r#"["week1-day1"]"#,
                "Cargo.toml: feature week1 should list week1-day1, week1-day2",
            ),
            (
                "Cargo.toml",
                r#"name = "week1_day2""#,
                r#"name = "other""#,
                "Cargo.toml: no [[test]] named week1_day2",
            ),
            (
                "Cargo.toml",
                r#"["week1-day2"]
"#,
                r#"["week1-day1"]
"#,
                r#"Cargo.toml: [[test]] week1_day2 should have required-features = ["week1-day2"]"#,
            ),
            (
                "tests/week1_day1.rs",
                "task_2",
                "task_3",
                "tests/week1_day1.rs: no test named task_2_…",
            ),
            (
                "tests/week1_day1.rs",
                "task_2",
                "task_3",
                "tests/week1_day1.rs: tests named task_3_…, but week1-day1 has 2 tasks",
            ),
            (
                "tests/week1_day2.rs",
                "mod task_1;",
                "",
                "tests/week1_day2.rs: week1_day2/task_1.rs is not a module of this file",
            ),
            (
                "tests/start_here.rs",
                "day2",
                "day3",
                "tests/start_here.rs: does not know the feature week1-day2",
            ),
            (
                "book/src/SUMMARY.md",
                "week1/day2.md",
                "day2.md",
                "book/src/SUMMARY.md: no link to week1/day2.md",
            ),
            (
                "book/src/week1/day1.md",
                "`two`",
                "",
                "book/src/week1/day1.md: task 2 does not name Two::two",
            ),
            (
                "book/src/week1/day1.md",
                "task_2",
                "",
                "book/src/week1/day1.md: task 2 lacks its command, `cargo test --features \
                 week1-day1 task_2`",
            ),
            (
                "reference/src/week1/b.rs",
                "// END SOLUTION",
                "",
                "reference/src/week1/b.rs:2: SOLUTION without END SOLUTION",
            ),
            (
                "reference/src/week1/b.rs",
                "pub fn",
                "// SOLUTION week1-day9 task 1 (helper)\n// END SOLUTION\npub fn",
                "reference/src/week1/b.rs:1: course/curriculum.toml has no week1-day9 task 1",
            ),
        ] {
            let root = sound();
            let text = fs::read_to_string(root.path().join(path)).unwrap();
            assert!(text.contains(from), "{path}: {from}");
            write(root.path(), path, &text.replace(from, to));
            let problems = problems(root.path(), &curriculum()).unwrap();
            assert!(
                problems.iter().any(|problem| problem.ends_with(message)),
                "{problems:#?}\n  does not contain\n{message}"
            );
        }
        for path in
            ["tests/week1_day2.rs", "python-ref/oracle/week1_day2.py", "book/src/week1/day2.md"]
        {
            let root = sound();
            fs::remove_file(root.path().join(path)).unwrap();
            assert!(
                problems(root.path(), &curriculum())
                    .unwrap()
                    .iter()
                    .any(|problem| problem.starts_with(&format!("{path}: missing")))
            );
        }
    }
}
