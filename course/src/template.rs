//! A file of the reference, parsed as a template: plain text and marked regions.
//!
//! ```text
//!     // SOLUTION week1-day4 task 2
//!     ...
//!     // END SOLUTION
//! ```
//!
//! A region inside a function is the function's body, or the end of it. It becomes a `todo!`. A
//! region marked `(helper)` is outside of functions and is removed.

use anyhow::{Context, Result, bail, ensure};

use crate::{
    curriculum::{Curriculum, TaskId},
    source::{enclosing_function, indentation, normalise},
};

/// A file of the reference.
#[derive(Debug)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug)]
enum Piece {
    Line(String),
    Region(Region),
}

/// The text between two markers.
#[derive(Debug, PartialEq, Eq)]
pub struct Region {
    /// The task that the region belongs to.
    pub task: TaskId,
    /// The function that contains the region. `None` for a helper.
    pub function: Option<String>,
    /// Line number of the opening marker, counted from 1.
    pub line: usize,
    indentation: usize,
    body: Vec<String>,
}

impl Region {
    /// Returns the region's lines, with the reference's indentation replaced by `indentation`.
    pub fn body(&self, indentation: &str) -> Vec<String> {
        let own = " ".repeat(self.indentation);
        let moved = |line: &String| {
            line.strip_prefix(&own)
                .map_or_else(|| line.clone(), |rest| format!("{indentation}{rest}"))
        };
        self.body.iter().map(moved).collect()
    }
}

impl Template {
    /// Parses a file. `path` is for messages.
    ///
    /// # Errors
    /// If markers are malformed or unbalanced, or disagree with the curriculum. The message names
    /// the file and the line.
    pub fn parse(path: &str, text: &str, curriculum: &Curriculum) -> Result<Self> {
        let text = normalise(text);
        let lines: Vec<&str> = text.lines().collect();
        let mut pieces = Vec::new();
        let mut open: Option<Region> = None;
        for (i, line) in lines.iter().enumerate() {
            let place = || format!("{path}:{}", i + 1);
            let code = line.trim();
            if let Some(marker) = code.strip_prefix("// SOLUTION") {
                if let Some(region) = &open {
                    bail!(
                        "{}: a region opens inside the region opened at line {}",
                        place(),
                        region.line
                    );
                }
                let marker = marker.trim();
                let (task, helper) = parse_task(marker).with_context(|| {
                    format!(
                        "{}: expected `// SOLUTION weekN-dayM task K`, with or without `(helper)`; \
                         found `// SOLUTION {marker}`",
                        place()
                    )
                })?;
                let function = enclosing_function(&lines, i);
                match &function {
                    Some(function) if helper => {
                        bail!("{}: found a helper region inside the function {function}", place())
                    }
                    None if !helper => {
                        bail!(
                            "{}: this region isn't inside a function; mark a helper's region with `(helper)`",
                            place()
                        )
                    }
                    None => ensure!(
                        indentation(line) == 0,
                        "{}: a helper must be at item level, outside any impl",
                        place()
                    ),
                    _ => {}
                }
                // Tasks of days that are not listed yet also become stubs. `unlisted` reports them
                // to the consistency check.
                if curriculum.days().any(|day| day.feature == task.feature) {
                    let known = curriculum.task(&task).with_context(place)?;
                    ensure!(
                        path.strip_prefix("reference/") == Some(known.file.as_str()),
                        "{}: found {task} here, but the curriculum lists it in {}",
                        place(),
                        known.file
                    );
                    if let Some(function) = &function {
                        ensure!(
                            known.functions.contains(function),
                            "{}: the curriculum does not list {function} for {task}",
                            place()
                        );
                    }
                }
                open = Some(Region {
                    task,
                    function,
                    line: i + 1,
                    indentation: indentation(line),
                    body: Vec::new(),
                });
            } else if code.starts_with("// END SOLUTION") {
                let region = open
                    .take()
                    .with_context(|| format!("{}: END SOLUTION without SOLUTION", place()))?;
                pieces.push(Piece::Region(region));
            } else if let Some(region) = &mut open {
                region.body.push((*line).to_owned());
            } else {
                pieces.push(Piece::Line((*line).to_owned()));
            }
        }
        if let Some(region) = open {
            bail!("{path}:{}: SOLUTION without END SOLUTION", region.line);
        }
        let template = Self { pieces };
        for (n, region) in template.regions().enumerate() {
            let twice = template
                .regions()
                .take(n)
                .find(|earlier| region.function.is_some() && earlier.function == region.function);
            if let Some(earlier) = twice {
                let function = region.function.as_deref().unwrap_or_default();
                bail!(
                    "{path}:{}: {function} already has a region, at line {}",
                    region.line,
                    earlier.line
                );
            }
        }
        Ok(template)
    }

    /// Returns the marked regions, in order.
    pub fn regions(&self) -> impl Iterator<Item = &Region> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Region(region) => Some(region),
            Piece::Line(_) => None,
        })
    }

    /// Returns the tasks whose day is not in the curriculum, each with the line of its first
    /// marker.
    pub fn unlisted(&self, curriculum: &Curriculum) -> Vec<(&TaskId, usize)> {
        let mut found: Vec<(&TaskId, usize)> = Vec::new();
        for region in self.regions() {
            let known = curriculum.days().any(|day| day.feature == region.task.feature)
                || found.iter().any(|(id, _)| **id == region.task);
            if !known {
                found.push((&region.task, region.line));
            }
        }
        found
    }

    /// Returns the file for the learner: a stub for every task.
    pub fn stub(&self) -> String {
        self.render(|_| false)
    }

    /// Returns the reference's file with several bodies for each function that has arms. For each
    /// function of a task, `choice` returns a Rust expression and the arms (`17 => { … }`). The
    /// expression's value selects an arm. Any other value selects the reference's body.
    pub fn render_arms(&self, choice: impl Fn(&TaskId, &str) -> (String, Vec<String>)) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Line(line) => text += line,
                Piece::Region(Region { task, function, body, .. }) => {
                    let body = body.join("\n");
                    match function.as_deref().map(|function| choice(task, function)) {
                        Some((chosen, arms)) if !arms.is_empty() => {
                            let arms = arms.join("\n");
                            text += &format!("match {chosen} {{\n{arms}\n_ => {{\n{body}\n}}\n}}");
                        }
                        _ => text += &body,
                    }
                }
            }
            text.push('\n');
        }
        text
    }

    /// Returns the file with the reference's solution of each task for which `solved` returns true,
    /// and with stubs for all other tasks. Removes the markers.
    pub fn render(&self, solved: impl Fn(&TaskId) -> bool) -> String {
        let mut lines: Vec<String> = Vec::new();
        let mut vanished = false;
        for piece in &self.pieces {
            match piece {
                Piece::Line(line) => {
                    // Removing a helper leaves one blank line too many: two in a row, or one at the
                    // beginning of the file.
                    let superfluous =
                        vanished && line.is_empty() && lines.last().is_none_or(String::is_empty);
                    if !superfluous {
                        lines.push(line.clone());
                    }
                    vanished = false;
                }
                Piece::Region(region) if solved(&region.task) => {
                    lines.extend(region.body.iter().cloned());
                    vanished = false;
                }
                Piece::Region(region) => match &region.function {
                    Some(function) => {
                        let message = region.task.message(function);
                        lines.push(format!(
                            "{:indent$}todo!(\"{message}\")",
                            "",
                            indent = region.indentation
                        ));
                        vanished = false;
                    }
                    None => vanished = true,
                },
            }
        }
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines.join("\n") + "\n"
    }
}

/// Parses the text of a marker: `week1-day4 task 2` or `week1-day4 task 2 (helper)`. Returns the
/// task, and whether the marked region is a helper.
pub fn parse_task(marker: &str) -> Option<(TaskId, bool)> {
    let (task, helper) = match marker.strip_suffix("(helper)") {
        Some(task) => (task.trim_end(), true),
        None => (marker, false),
    };
    let (feature, number) = task.split_once(" task ")?;
    Some((TaskId { feature: feature.to_owned(), task: number.parse().ok()? }, helper))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::curriculum;

    const PATH: &str = "reference/src/week1/a.rs";

    const FILE: &str = "\
//! Module.

/// One.
pub fn one(x: u32) -> u32 {
    // SOLUTION week1-day1 task 1
    helper(x)
    // END SOLUTION
}

// SOLUTION week1-day1 task 1 (helper)
fn helper(x: u32) -> u32 {
    x + 1
}
// END SOLUTION

impl Two {
    fn two(
        &self,
    ) -> u32 {
        // SOLUTION week1-day1 task 2
        2
        // END SOLUTION
    }
}
";

    const STUB: &str = "\
//! Module.

/// One.
pub fn one(x: u32) -> u32 {
    todo!(\"week1-day1 task 1: one\")
}

impl Two {
    fn two(
        &self,
    ) -> u32 {
        todo!(\"week1-day1 task 2: Two::two\")
    }
}
";

    fn parse(text: &str) -> Result<Template> {
        Template::parse(PATH, text, &curriculum())
    }

    fn error(from: &str, to: &str) -> String {
        assert!(FILE.contains(from));
        format!("{:#}", parse(&FILE.replacen(from, to, 1)).unwrap_err())
    }

    #[test]
    fn stub_replaces_bodies_and_removes_helpers() {
        assert_eq!(parse(FILE).unwrap().stub(), STUB);
        assert_eq!(parse(&FILE.replace('\n', "\r\n")).unwrap().stub(), STUB, "Windows line ends");
    }

    #[test]
    fn removes_the_blank_line_before_a_last_helper() {
        let helper = "\n// SOLUTION week1-day1 task 1 (helper)\nfn last() {}\n// END SOLUTION\n";
        assert_eq!(parse(&format!("{FILE}{helper}")).unwrap().stub(), STUB);
    }

    #[test]
    fn solved_tasks_keep_the_reference() {
        let text = parse(FILE).unwrap().render(|id| id.task == 1);
        assert!(
            text.contains("    helper(x)\n}\n\nfn helper(x: u32)")
                && text.contains("todo!(\"week1-day1 task 2"),
            "{text}"
        );
        assert!(!text.contains("SOLUTION"), "{text}");
    }

    #[test]
    fn unlisted_day_becomes_a_stub_and_is_reported() {
        let template = parse(&FILE.replace("week1-day1 task 1", "week1-day9 task 1")).unwrap();
        assert_eq!(template.stub(), STUB.replace("week1-day1 task 1", "week1-day9 task 1"));
        let unlisted = template.unlisted(&curriculum());
        assert_eq!(
            unlisted.iter().map(|(id, line)| (id.to_string(), *line)).collect::<Vec<_>>(),
            [("week1-day9 task 1".to_owned(), 5)]
        );
        assert!(parse(FILE).unwrap().unlisted(&curriculum()).is_empty());
    }

    #[test]
    fn reports_errors_with_file_and_line() {
        for (from, to, message) in [
            (
                "    // END SOLUTION\n",
                "",
                "reference/src/week1/a.rs:9: a region opens inside the region opened at line 5",
            ),
            (
                "        // END SOLUTION\n    }\n}\n",
                "",
                "reference/src/week1/a.rs:20: SOLUTION without END SOLUTION",
            ),
            (
                "    // SOLUTION week1-day1 task 1\n",
                "",
                "reference/src/week1/a.rs:6: END SOLUTION without SOLUTION",
            ),
            (
                "week1-day1 task 1",
                "week1-day1 task 7",
                "a.rs:5: course/curriculum.toml: week1-day1 has no task 7",
            ),
            (
                "week1-day1 task 1",
                "week1-day2 task 1",
                "a.rs:5: found week1-day2 task 1 here, but the curriculum lists it in \
                 src/week1/b.rs",
            ),
            ("week1-day1 task 1", "day1 1", "a.rs:5: expected `// SOLUTION weekN-dayM task K`"),
            (
                "fn two",
                "fn deux",
                "a.rs:20: the curriculum does not list Two::deux for week1-day1 task 2",
            ),
            (" (helper)", "", "a.rs:10: this region isn't inside a function"),
            (
                "// SOLUTION week1-day1 task 1 (h",
                "    // SOLUTION week1-day1 task 1 (h",
                "a.rs:10: a helper must be at item level",
            ),
            (
                "day1 task 2",
                "day1 task 2 (helper)",
                "a.rs:20: found a helper region inside the function Two::two",
            ),
            (
                "        // END SOLUTION",
                "        // END SOLUTION\n        // SOLUTION week1-day1 task 2\n        // END \
                 SOLUTION",
                "already has a region",
            ),
        ] {
            let error = error(from, to);
            assert!(error.contains(message), "{error}\n  does not contain\n{message}");
        }
    }
}
