//! `{{#mistakes week1}}`: the known mistakes of a week by task, each with its diagnosis. They are
//! read from `tests/wrong`, whose README describes the format.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    chapters::SOURCES,
    markdown::{self, Problem},
};

/// Folder of the known mistakes, one file per day, relative to the repository.
pub(crate) const FOLDER: &str = "tests/wrong";

/// Replaces every `{{#mistakes WEEK}}` outside code blocks with the tables of that week.
pub(crate) fn expand(text: &str, repository: &Path, problems: &mut Vec<Problem>) -> String {
    markdown::expand(text, problems, |directive, week| {
        (directive == "mistakes")
            .then(|| of_week(week, repository).map_err(|problem| format!("mistakes: {problem}")))
    })
}

fn of_week(week: &str, repository: &Path) -> Result<String, String> {
    let days = (1..).map_while(|day| {
        let path = repository.join(FOLDER).join(format!("{week}_day{day}.txt"));
        path.is_file().then_some((day, path))
    });
    let days: Vec<(usize, PathBuf)> = days.collect();
    if days.is_empty() {
        return Err(format!("there is no {FOLDER}/{week}_day1.txt"));
    }
    let mut out = String::new();
    for (day, path) in days {
        let chapter = format!("{SOURCES}/{week}/day{day}.md");
        let headings = read(&repository.join(&chapter))?;
        let title = headings.lines().find_map(|line| line.strip_prefix("# "));
        let title = title.ok_or_else(|| format!("{chapter} has no title"))?;
        let _ = writeln!(out, "## {title}");
        let mut task = "";
        let text = read(&path)?;
        for mistake in mistakes(&text) {
            if mistake.task != task {
                task = mistake.task;
                let start = format!("## Task {task}: ");
                let heading = headings.lines().find(|line| line.starts_with(&start));
                let heading = heading.ok_or_else(|| format!("{chapter} has no `{start}…`"))?;
                let _ = write!(out, "\n#{heading}\n\n{HEAD}\n");
            }
            let says = mistake.says.replace('|', "\\|").replace('<', "&lt;");
            let _ = writeln!(out, "| `{}` | {says} |", mistake.name);
        }
        out.push('\n');
    }
    Ok(out)
}

const HEAD: &str = "| mistake | what the learner is told |\n|---|---|";

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

struct Mistake<'a> {
    task: &'a str,
    name: &'a str,
    says: String,
}

/// Parses the known mistakes in a day's file, without their code.
fn mistakes(text: &str) -> Vec<Mistake<'_>> {
    let (mut task, mut found): (&str, Vec<Mistake>) = ("", Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let more = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '));
        let is_label =
            |rest: &&str| ["shows: ", "trace: ", "by luck: "].iter().any(|l| rest.starts_with(l));
        if let Some(more) = more.filter(|rest| !is_label(rest)) {
            if let Some(last) = found.last_mut() {
                last.says = format!("{} {more}", last.says);
            }
        } else if line.starts_with(' ') {
        } else if let Some((number, _)) =
            line.strip_prefix("task ").and_then(|rest| rest.split_once(", fn "))
        {
            task = number;
        } else if let Some((name, says)) = line.split_once(": ") {
            found.push(Mistake { task, name, says: says.to_owned() });
        } else if let Some((name, same)) = line.split_once(" = ") {
            let says = found.iter().rfind(|mistake| mistake.name == same);
            let says = says.map(|mistake| mistake.says.clone()).unwrap_or_default();
            found.push(Mistake { task, name, says });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: &str = "\
# A comment: no entry.
task 1, fn one
twice: You count
  twice | thrice.
  shows: found 0
    x + 1 → x: 2
twice_more = twice
   +0

task 2, fn two
never: You do not count.
   +1: 2
";

    fn expanded(text: &str) -> (String, Vec<Problem>) {
        let repository = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = repository.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("tests/wrong/week1_day1.txt", DAY);
        write("book/src/week1/day1.md", "# Day 1: Numbers\n\n## Task 1: One\n\n## Task 2: Two\n");
        let mut problems = Vec::new();
        (expand(text, repository.path(), &mut problems), problems)
    }

    #[test]
    fn returns_one_table_per_task() {
        let (out, problems) = expanded("Before.\n\n{{#mistakes week1}}\n");
        assert_eq!(problems, []);
        let expected = format!(
            "Before.\n\n## Day 1: Numbers\n\n### Task 1: One\n\n{HEAD}\n\
             | `twice` | You count twice \\| thrice. |\n\
             | `twice_more` | You count twice \\| thrice. |\n\n\
             ### Task 2: Two\n\n{HEAD}\n| `never` | You do not count. |\n\n"
        );
        assert_eq!(out, expected);
    }

    #[test]
    fn week_without_mistakes_is_an_error() {
        let (_, problems) = expanded("a\n{{#mistakes week7}}\n");
        assert_eq!(problems, [(2, "mistakes: there is no tests/wrong/week7_day1.txt".to_owned())]);
        let (out, _) = expanded("```text\n{{#mistakes week7}}\n```\n");
        assert!(out.contains("{{#mistakes week7}}"), "{out}");
    }
}
