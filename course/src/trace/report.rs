//! Reads the report of the learner's run and describes the result.

use std::fmt::Write;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{
    curriculum::{Curriculum, TaskId},
    json,
};

/// The report of the learner's run, parsed.
#[derive(Debug, Default)]
pub(super) struct Report {
    loaded: bool,
    ended: bool,
    /// Number of activations that agree.
    agreed: usize,
    /// Name of the last activation that agrees.
    last: Option<String>,
    /// The largest deviation among the activations that agree, and its activation's name.
    furthest: Option<(f64, String)>,
    difference: Option<(String, String, Vec<String>)>,
    panic: Option<(String, Option<String>, Vec<String>)>,
    error: Option<String>,
}

impl Report {
    /// Parses the report of a run, even if the run did not finish.
    ///
    /// # Errors
    /// If a line is not part of a report.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut report = Self::default();
        for (i, line) in text.lines().enumerate() {
            report.read(line).with_context(|| {
                format!("line {} of your engine's report is malformed: {line}", i + 1)
            })?;
        }
        Ok(report)
    }

    /// Parses one line of the report, which `cli/src/trace/report.rs` writes.
    fn read(&mut self, line: &str) -> Result<()> {
        let line: Value = serde_json::from_str(line)?;
        let kind = json::fields(&line)?.keys().find(|name| KINDS.contains(&name.as_str()));
        match kind.context("found a line of unknown kind")?.as_str() {
            "agrees" => {
                let name = json::text(&line, "agrees")?.to_owned();
                let deviation = line["deviation"].as_f64();
                let deviation = deviation.context("field \"deviation\": expected a number")?;
                self.agreed += 1;
                if self.furthest.as_ref().is_none_or(|(furthest, _)| deviation > *furthest) {
                    self.furthest = Some((deviation, name.clone()));
                }
                self.last = Some(name);
            }
            "differs" => {
                let words = json::text(&line, "words")?.to_owned();
                let name = json::text(&line, "differs")?.to_owned();
                self.difference = Some((name, words, tasks(&line)?));
            }
            "panic" => {
                let during = json::optional_text(&line, "during")?.map(str::to_owned);
                self.panic = Some((json::text(&line, "panic")?.to_owned(), during, tasks(&line)?));
            }
            "error" => self.error = Some(json::text(&line, "error")?.to_owned()),
            "loaded" => self.loaded = true,
            _ => self.ended = true,
        }
        Ok(())
    }

    /// Returns whether all activations were compared and agree.
    pub(super) fn agrees(&self) -> bool {
        self.ended && self.difference.is_none()
    }

    /// Describes the result for the learner. `subject` is the model and its input.
    pub(super) fn text(&self, curriculum: &Curriculum, subject: &str) -> String {
        let mut text = format!("Your model and the reference: {subject}.\n");
        let before = match &self.last {
            Some(last) => format!("{} activations agree, up to {last}.", self.agreed),
            None => "No earlier activation was computed.".to_owned(),
        };
        if let Some((_, words, tasks)) = &self.difference {
            let _ = write!(
                text,
                "{before} The first activation that differs:\n\n{words}\n\n{}",
                responsible(curriculum, tasks)
            );
            if let Some((panic, ..)) = &self.panic {
                let _ = write!(text, "\n\nLater, your code fails: {panic}");
            }
        } else if let Some((panic, during, tasks)) = &self.panic {
            let place = match during {
                Some(name) => format!("{before} Your code then fails before it reaches {name}:"),
                None if self.loaded => format!("{before} Your code then fails:"),
                None => "Your code fails while it loads the model:".to_owned(),
            };
            // Omit the command at the end of a stub's message, because it is also printed below.
            let _ =
                write!(text, "{place}\n\n{}", panic.split("; run cargo").next().unwrap_or(panic));
            // A stub's message names its task. Any other panic is in a function that computes the
            // next activation.
            let tasks = match stub(panic) {
                Some(task) => vec![task.to_owned()],
                None => tasks.clone(),
            };
            if !tasks.is_empty() {
                let _ = write!(text, "\n\n{}", responsible(curriculum, &tasks));
            }
        } else if let Some(error) = &self.error {
            let _ = write!(
                text,
                "Your code refuses to run: {error}\n\n{}",
                responsible(curriculum, &[LOADING.to_owned()])
            );
        } else if self.ended {
            let _ = write!(text, "All {} activations agree.", self.agreed);
            match &self.furthest {
                Some((deviation, name)) if *deviation > 0.0 => {
                    let _ = write!(
                        text,
                        " The largest deviation is in {name}: {deviation:.1e} of the tensor's \
                         largest magnitude."
                    );
                }
                _ => text += " They are bit-identical.",
            }
        } else {
            let place =
                if self.loaded { before } else { "It had not loaded the model yet.".to_owned() };
            let _ = write!(
                text,
                "Your engine exited early, without a panic; its output is above. {place}"
            );
        }
        text
    }
}

/// Fields of a report's lines. Each line has one of them, which identifies its kind.
const KINDS: [&str; 6] = ["agrees", "differs", "panic", "error", "loaded", "end"];

/// Returns the functions that a line of the report names, most likely culprit first.
fn tasks(line: &Value) -> Result<Vec<String>> {
    let text = |task: &Value| {
        task.as_str().map(str::to_owned).context("field \"tasks\": expected strings")
    };
    json::list(line, "tasks")?.iter().map(text).collect()
}

/// The task that is responsible if the learner's code rejects a model that the reference accepts.
const LOADING: &str = "week1-day5 task 4: load_model";

/// Returns the task that a stub's message names: `this needs week1-day5 task 4: load_model
/// (src/week1/weights.rs); run …`.
fn stub(panic: &str) -> Option<&str> {
    Some(panic.strip_prefix("this needs ")?.rsplit_once(" (")?.0)
}

/// Formats each function with its task, file, chapter and test command.
fn responsible(curriculum: &Curriculum, functions: &[String]) -> String {
    let mut text = String::new();
    let several = functions.len() > 1;
    text += match functions {
        [] => {
            return "No task computes this. `src/` may be older than `reference/`. To check, run \
                    `cargo course stubs --check`."
                .to_owned();
        }
        [_] => "Look at",
        _ => "Look at these functions, likeliest first:",
    };
    for function in functions {
        let (task, name) = function.split_once(": ").unwrap_or((function, ""));
        let found = task.split_once(" task ").and_then(|(feature, number)| {
            let id = TaskId { feature: feature.to_owned(), task: number.parse().ok()? };
            let day = curriculum.day(feature).ok()?;
            Some((id.clone(), day, curriculum.task(&id).ok()?))
        });
        let Some((id, day, task)) = found else {
            let _ = write!(text, " {function}");
            continue;
        };
        let lead = if several { "\n  " } else { " " };
        let _ = write!(text, "{lead}{name}, {id} ({})", task.title);
        let indent = if several { "    " } else { "  " };
        let _ = write!(text, "\n{indent}file   {}\n{indent}read   {}", task.file, day.chapter);
        let _ = write!(
            text,
            "\n{indent}check  cargo test --features {} task_{}",
            day.feature, task.number
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::curriculum;

    fn told(lines: &str) -> (String, bool) {
        let report = Report::parse(lines).unwrap();
        (report.text(&curriculum(), "models/m on \"a\""), report.agrees())
    }

    const AGREES: &str = "{\"loaded\":true}\n\
                          {\"agrees\":\"a\",\"deviation\":1e-6}\n\
                          {\"agrees\":\"b\",\"deviation\":1e-7}\n";

    #[test]
    fn reports_the_largest_deviation() {
        let (text, agrees) = told(&format!("{AGREES}{{\"end\":true}}\n"));
        assert!(agrees);
        assert!(
            text.contains(
                "All 2 activations agree. The largest deviation is in a: 1.0e-6 of the tensor's \
                 largest magnitude."
            ),
            "{text}"
        );
    }

    #[test]
    fn reports_the_difference_before_a_later_panic() {
        let differs = "{\"differs\":\"c\",\"words\":\"layer 0, c\",\"tasks\":[\"week1-day1 task 2: \
                       Two::two\"]}\n";
        let panic =
            "{\"panic\":\"error: out of range (src/week1/a.rs:3)\",\"during\":null,\"tasks\":[]}\n";
        let (text, agrees) = told(&format!("{AGREES}{differs}{panic}"));
        assert!(!agrees);
        let expected = "2 activations agree, up to b. The first activation that differs:\n\n\
                        layer 0, c\n\n\
                        Look at Two::two, week1-day1 task 2 (Two)\n  file   src/week1/a.rs\n  \
                        read   book/src/week1/day1.md\n  check  cargo test --features week1-day1 \
                        task_2\n\n\
                        Later, your code fails: error: out of range (src/week1/a.rs:3)";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn lists_several_functions_likeliest_first() {
        let tasks = "[\"week1-day2 task 1: three\",\"week1-day1 task 1: one\"]";
        let (text, _) =
            told(&format!("{AGREES}{{\"differs\":\"c\",\"words\":\"c\",\"tasks\":{tasks}}}\n"));
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in {text}"));
        assert!(at("these functions, likeliest first") < at("three, week1-day2 task 1"), "{text}");
        assert!(at("three, week1-day2 task 1") < at("one, week1-day1 task 1"), "{text}");
    }

    #[test]
    fn reports_the_task_that_a_stub_names() {
        let panic = "{\"panic\":\"this needs week1-day1 task 2: Two::two (src/week1/a.rs); run \
                     cargo test --features week1-day1\",\"during\":\"c\",\"tasks\":[\"week1-day2 \
                     task 1: three\"]}\n";
        let (text, agrees) = told(&format!("{AGREES}{panic}"));
        assert!(!agrees);
        assert!(
            text.contains("up to b. Your code then fails before it reaches c:")
                && text.contains("Look at Two::two, week1-day1 task 2"),
            "{text}"
        );
        assert!(!text.contains("three"), "{text}");
        let (text, _) = told(&panic.replace("\"during\":\"c\"", "\"during\":null"));
        assert!(text.contains("fails while it loads the model"), "{text}");
    }

    #[test]
    fn distinguishes_early_exits_and_errors() {
        let (text, agrees) = told(AGREES);
        assert!(!agrees && text.contains("without a panic") && text.contains("up to b"), "{text}");
        let (text, agrees) = told("{\"error\":\"model.norm.weight: not found\"}\n");
        assert!(!agrees && text.contains("refuses to run: model.norm.weight: not found"), "{text}");
        assert!(Report::parse("{\"agrees\":1}").unwrap_err().to_string().contains("line 1"));
    }
}
