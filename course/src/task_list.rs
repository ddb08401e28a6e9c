//! The list of tasks at the beginning of a file. It shows which functions are tasks and which are
//! provided.

use std::collections::BTreeMap;

use crate::{curriculum::TaskId, template::Template};

/// The beginning of the list. `END` is its end.
const TASKS: &str = "//! Tasks here: ";
const END: &str = "provided.";

/// Returns `text` with the list of its tasks at the end of its first comment. `template` was parsed
/// from `text`. If `text` has no tasks or no such comment, returns `text` unchanged.
pub(crate) fn with_list(template: &Template, text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().take_while(|line| line.starts_with("//!")).count();
    let (comment, code) = lines.split_at(end);
    let mut tasks: BTreeMap<&TaskId, Vec<String>> = BTreeMap::new();
    for region in template.regions() {
        let function = region.function.iter().map(|function| format!("`{function}`"));
        tasks.entry(&region.task).or_default().extend(function);
    }
    if comment.is_empty() || tasks.is_empty() {
        return text.to_owned();
    }
    let mut new = comment.to_vec();
    if let Some(start) = comment.iter().position(|line| line.starts_with(TASKS)) {
        let more = comment[start..].iter().position(|line| line.ends_with(END)).unwrap_or(0);
        // Also removes the empty line before the list.
        new.drain(start.saturating_sub(1)..=start + more);
    }
    let tasks: Vec<String> = tasks
        .into_iter()
        .map(|(task, functions)| format!("{task} ({})", functions.join(", ")))
        .collect();
    let list = format!("{TASKS}{}. Everything else is {END}", tasks.join(", "));
    new.push("//!");
    let mut new = new.join("\n") + "\n";
    let mut width = 0;
    for word in list.split(' ') {
        if width + 1 + word.len() > 100 {
            new += "\n//!";
            width = 3;
        }
        let space = if width == 0 { "" } else { " " };
        new += &format!("{space}{word}");
        width += space.len() + word.len();
    }
    new + "\n" + &code.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{A, curriculum};

    #[test]
    fn appends_the_task_list_to_the_first_comment() {
        let list = |functions: &str| {
            format!(
                "//!\n//! Tasks here: week1-day1 task 1 ({functions}), week1-day1 task 2 \
                 (`Two::two`). Everything else is\n//! provided.\n"
            )
        };
        let listed = format!("//! Module.\n{}\n{A}", list("`one`"));
        let stale = list("`once`, `twice`");
        for text in [
            format!("//! Module.\n\n{A}"),
            listed.clone(),
            format!("//! Module.\n{stale}\n{A}"),
            format!("{stale}//! Module.\n\n{A}"),
        ] {
            assert_eq!(of(&text), listed);
        }
        assert_eq!(of(A), A, "there is no first comment");
    }

    fn of(text: &str) -> String {
        let template = Template::parse("reference/src/week1/a.rs", text, &curriculum());
        with_list(&template.unwrap(), text)
    }
}
