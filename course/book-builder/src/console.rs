//! Extracts the commands of the book, so that verification can run all of them.

use std::path::Path;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::{
    chapters::{chapters, located},
    markdown::{Fence, Problem, fences},
};

/// Returns every command in the book as a JSON object, without repetitions.
pub(crate) fn commands(repository: &Path) -> Result<Vec<Value>> {
    let (mut commands, mut problems): (Vec<Value>, Vec<String>) = Default::default();
    for chapter in chapters(repository)? {
        let text = std::fs::read_to_string(repository.join(&chapter))?;
        let mut here = Vec::new();
        for mut command in commands_of(&text, &mut here) {
            command["file"] = json!(chapter);
            let same = |other: &&Value| {
                ["command", "expect", "output"].iter().all(|key| other[key] == command[key])
            };
            if commands.iter().find(same).is_none() {
                commands.push(command);
            }
        }
        problems.extend(located(&chapter, here));
    }
    if !problems.is_empty() {
        bail!("{}", problems.join("\n"));
    }
    Ok(commands)
}

/// Returns the commands of one chapter, each with its line number, its expected result, and the
/// output shown below it.
pub(crate) fn commands_of(text: &str, problems: &mut Vec<Problem>) -> Vec<Value> {
    let mut commands = Vec::new();
    for fence in fences(text) {
        let mut words = fence.info.split([',', ' ']).filter(|word| !word.is_empty());
        if words.next() != Some("console") {
            continue;
        }
        let reason = reason_above(text, &fence);
        match words.next() {
            Some(kind @ ("green" | "red" | "reference" | "solved")) => {
                commands_of_block(&fence, kind, None, problems, &mut commands);
            }
            Some("interactive") if reason.is_some() => {
                commands_of_block(&fence, "interactive", reason, problems, &mut commands);
            }
            Some("interactive") => {
                problems.push((
                    fence.line,
                    "an interactive block needs `<!-- not run: … -->` on the line above it"
                        .to_owned(),
                ));
            }
            other => problems.push((
                fence.line,
                format!(
                    "a console block needs `,green`, `,red`, `,reference`, `,solved` or \
                     `,interactive`; found {:?}",
                    other.unwrap_or("nothing")
                ),
            )),
        }
    }
    commands
}

fn reason_above(text: &str, fence: &Fence) -> Option<String> {
    let above = text.lines().nth(fence.line.checked_sub(2)?)?;
    Some(above.trim().strip_prefix("<!-- not run:")?.strip_suffix("-->")?.trim().to_owned())
}

fn commands_of_block(
    fence: &Fence,
    kind: &str,
    reason: Option<String>,
    problems: &mut Vec<Problem>,
    commands: &mut Vec<Value>,
) {
    let first = commands.len();
    let mut lines = fence.text.lines().enumerate();
    while let Some((n, line)) = lines.next() {
        // The fence is one line above its contents.
        let at = fence.line + 1 + n;
        let Some(command) = line.strip_prefix("$ ") else {
            match commands[first..].last_mut() {
                Some(command) => {
                    command["output"].as_array_mut().expect("made below").push(json!(line));
                }
                None => problems.push((
                    at,
                    format!("a console block begins with a command, `$ …`; found {line:?}"),
                )),
            }
            continue;
        };
        let mut command = command.to_owned();
        while command.ends_with('\\') {
            command.pop();
            let Some((_, next)) = lines.next() else { break };
            command = format!("{} {}", command.trim_end(), next.trim());
        }
        commands.push(match (kind, &reason) {
            ("solved", _) => {
                json!({"line": at, "expect": "reference", "command": on_reference(&command), "shown": command, "output": []})
            }
            (_, Some(reason)) => json!({"line": at, "expect": kind, "command": command, "reason": reason, "output": []}),
            (_, None) => json!({"line": at, "expect": kind, "command": command, "output": []}),
        });
    }
}

/// Returns the command that does the same with the reference solution.
fn on_reference(command: &str) -> String {
    let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    for i in 1..words.len() {
        if ["--features", "show"].contains(&words[i - 1].as_str()) {
            words[i].push_str(",reference");
        } else if words[i] == "llm" && words[i - 1] == "cargo" {
            words[i].push_str("-ref");
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<Value>, Vec<Problem>) {
        let mut problems = Vec::new();
        (commands_of(text, &mut problems), problems)
    }

    #[test]
    fn returns_each_command_with_its_line_and_output() {
        let (commands, problems) =
            read("text\n\n```console,red\n$ cargo test \\\n  task_1\n…\nfailed\n$ true\n```\n");
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(commands.len(), 2);
        assert_eq!(
            commands[0],
            json!({"line": 4, "expect": "red", "command": "cargo test task_1", "output": ["…", "failed"]})
        );
        assert_eq!(commands[1]["line"], 8);
    }

    #[test]
    fn a_solved_command_runs_on_the_reference() {
        let (commands, _) = read(
            "```console,solved\n\
             $ cargo test --features week1-day1 task_1\n\
             $ cargo llm logits\n\
             ```\n",
        );
        assert_eq!(commands[0]["command"], "cargo test --features week1-day1,reference task_1");
        assert_eq!(commands[0]["shown"], "cargo test --features week1-day1 task_1");
        assert_eq!(commands[1]["command"], "cargo llm-ref logits");
        assert_eq!(on_reference("cargo show week1-day1"), "cargo show week1-day1,reference");
    }

    #[test]
    fn an_interactive_block_needs_a_reason() {
        assert_eq!(read("```console,interactive\n$ cargo course book\n```\n").1[0].0, 1);
        let (commands, problems) =
            read("<!-- not run: serves -->\n```console,interactive\n$ cargo course book\n```\n");
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(commands[0]["reason"], "serves");
    }

    #[test]
    fn rejects_a_block_without_an_expectation() {
        assert_eq!(read("```console\n$ true\n```\n").1.len(), 1);
        assert_eq!(read("```console,green\nno command\n```\n").1[0].0, 2);
    }
}
