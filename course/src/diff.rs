//! `cargo course diff`: compares the learner's solution of a task with the reference, if the task's
//! tests pass.

use std::{fmt::Write as _, path::Path};

use anyhow::{Context, Result, ensure};

use crate::{
    curriculum::Curriculum,
    git,
    ink::Ink,
    learner::State,
    selection::Words,
    source::place,
    stubs::{Generated, generated},
    task_states::Status,
    test_run::{self, Verdict},
};

/// `cargo course diff TASK [--spoil]`: shows the differences from the reference's solution.
///
/// # Errors
/// If the task's tests do not pass and `spoil` is not given.
pub(crate) fn diff(root: &Path, curriculum: &Curriculum, words: &Words, spoil: bool) -> Result<()> {
    let here = Status::read(root, curriculum)?.day();
    let asked = words.task(curriculum, here)?;
    let (day, id, task) = asked.context("name a day and a task, for example week1-day2 3")?;
    let files = generated(root, curriculum)?;
    let file = files
        .iter()
        .find(|file| file.path == task.file)
        .with_context(|| format!("{} does not exist", task.file))?;
    if !spoil {
        let why = match test_run::run(root, day, Some(id.task), Ink::of_stdout())?.verdict {
            Verdict::Passed => None,
            Verdict::Failed => Some("its tests do not pass yet"),
            Verdict::DoesNotCompile => Some("your code does not compile"),
        };
        let typed = format!("{} {}", day.feature, id.task);
        ensure!(
            why.is_none(),
            "{id}: {}; the reference is shown once the tests pass, or with `cargo course diff \
             {typed} --spoil`",
            why.unwrap_or_default()
        );
    }
    let reference = file.template.render(|_| true);
    let ink = Ink::of_stdout();
    let mut text = String::new();
    for function in &task.functions {
        text += &beside(file, &reference, function, ink)?;
    }
    for region in
        file.template.regions().filter(|region| region.task == id && region.function.is_none())
    {
        let _ = writeln!(
            text,
            "The reference has helpers for this task:\n\n{}\n",
            region.body("").join("\n")
        );
    }
    print!("{text}");
    Ok(())
}

/// Returns a unified diff from the learner's function to the reference's, or one line that says why
/// there is no diff.
fn beside(file: &Generated, reference: &str, function: &str, ink: Ink) -> Result<String> {
    let Some(yours) = file.current.as_deref().and_then(|text| whole(text, function)) else {
        return Ok(format!("{function}: not found in {}\n\n", file.path));
    };
    let ours = whole(reference, function).unwrap_or_default();
    if file.state(function) == State::Borrowed {
        return Ok(format!("{function}: borrowed from the reference\n\n"));
    }
    if yours == ours {
        return Ok(format!("{function}: the same as the reference's\n\n"));
    }
    let mut shown =
        format!("--- {}: {function}\n+++ reference/{}: {function}\n", file.path, file.path);
    for line in git::diff(&yours, &ours)?.lines() {
        let line = match line.as_bytes().first() {
            Some(b'-') => ink.red(line),
            Some(b'+') => ink.green(line),
            _ => line.to_owned(),
        };
        shown += &format!("{line}\n");
    }
    Ok(shown + "\n")
}

/// Returns the text of a function, from `fn` to the closing brace.
fn whole(text: &str, function: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let place = place(&lines, function)?;
    Some(lines[place.whole()].join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{curriculum, repository, write};

    fn words(text: &str) -> Words {
        Words(text.split(' ').map(str::to_owned).collect())
    }

    fn shown(one: &str) -> String {
        let root = repository();
        write(root.path(), "src/week1/a.rs", &format!("pub fn one() -> u32 {{\n{one}}}\r\n"));
        let files = generated(root.path(), &curriculum()).unwrap();
        let file = files.iter().find(|file| file.path == "src/week1/a.rs").unwrap();
        beside(file, &file.template.render(|_| true), "one", Ink::plain()).unwrap()
    }

    #[test]
    fn compares_functions_with_the_reference() {
        let expected = "\
--- src/week1/a.rs: one
+++ reference/src/week1/a.rs: one
@@ -1,4 +1,3 @@
 pub fn one() -> u32 {
-    let one = 1;
-    one
+    1
 }

";
        assert_eq!(shown("    let one = 1;\r\n    one\n"), expected);
        assert_eq!(shown("    1\n"), "one: the same as the reference's\n\n");
        let borrowed = shown("    // BORROWED week1-day1 task 1\n    1\n    // END BORROWED\n");
        assert_eq!(borrowed, "one: borrowed from the reference\n\n");
        let root = repository();
        let files = generated(root.path(), &curriculum()).unwrap();
        assert!(
            beside(&files[0], "", "one", Ink::plain())
                .unwrap()
                .starts_with("one: not found in src/week1/a.rs")
        );
    }

    #[test]
    fn rejects_an_unknown_task_or_failing_tests() {
        let root = repository();
        let error =
            diff(root.path(), &curriculum(), &words("week1-day1 7"), true).unwrap_err().to_string();
        assert!(error.contains("week1-day1 has no task 7"), "{error}");
        diff(root.path(), &curriculum(), &words("week1-day1 1"), true).unwrap();
        let error = diff(root.path(), &curriculum(), &words("week1-day1 1"), false)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("does not compile") && error.contains("--spoil"),
            "there is nothing that cargo could build: {error}"
        );
    }
}
