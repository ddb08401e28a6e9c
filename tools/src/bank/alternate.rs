//! A correct body of another shape, in a file of its own:
//! `tests/alternate/week1_day3/task_2_loop.rs`.

use anyhow::{Context, Result, ensure};

use super::{Entry, Kind};
use crate::{curriculum::Day, libtest::task_of_test};

/// Reads one. Its first lines are `//! function: causal_mask` and `//! how: …`.
///
/// # Errors
/// If they are not, or do not fit the curriculum.
pub(super) fn entry(path: &str, text: &str, day: &Day) -> Result<Entry> {
    let mut lines = text.lines();
    let mut field = |name: &str| {
        let start = format!("//! {name}: ");
        let line = lines.next().and_then(|line| line.strip_prefix(&start));
        let value = line.map(str::trim).with_context(|| format!("expected `{start}…`"))?;
        ensure!(!value.is_empty() && value != "TODO", "`{name}` is not written");
        Ok(value.to_owned())
    };
    let (function, _) = (field("function")?, field("how")?);
    let name = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs").to_owned();
    let number = task_of_test(&name).context("the name must begin with task_K_")?;
    let (task, listed) = day
        .tasks()
        .find(|(id, _)| id.task == number)
        .with_context(|| format!("{} has no task {number}", day.feature))?;
    ensure!(
        listed.functions.contains(&function),
        "{task} has no function {function}; it has {}",
        listed.functions.join(", ")
    );
    // What `how` says may go on.
    let body: Vec<&str> = lines.skip_while(|line| line.starts_with("//!")).collect();
    let body = body.join("\n");
    Ok(Entry { path: path.to_owned(), name, task, function, kind: Kind::Alternate, body })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::curriculum;

    const PATH: &str = "tests/alternate/week1_day1/task_1_plus.rs";
    const TEXT: &str = "//! function: one\n//! how: another way\nx + 1\n";

    fn error(path: &str, text: &str) -> String {
        format!("{:#}", entry(path, text, &curriculum().weeks[0].days[0]).unwrap_err())
    }

    #[test]
    fn a_file_is_read() {
        let entry = entry(PATH, TEXT, &curriculum().weeks[0].days[0]).unwrap();
        assert_eq!((entry.name.as_str(), entry.body.as_str()), ("task_1_plus", "x + 1"));
        assert!(matches!(entry.kind, Kind::Alternate));
    }

    #[test]
    fn faults_are_named() {
        assert_eq!(error(PATH, &TEXT.replace("how", "why")), "expected `//! how: …`");
        assert_eq!(error(PATH, &TEXT.replace("another way", "TODO")), "`how` is not written");
        let two = error(PATH, &TEXT.replace("function: one", "function: two"));
        assert_eq!(two, "week1-day1 task 1 has no function two; it has one");
        assert!(error(&PATH.replace("task_1_", ""), TEXT).contains("task_K_"));
        assert!(error(&PATH.replace("task_1", "task_7"), TEXT).contains("no task 7"));
    }
}
