//! Converts the changes that cargo-mutants proposes to bodies of the changed functions.

use std::ops::Range;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{curriculum::TaskId, source::place, stubs::Generated};

/// A change that cargo-mutants proposes, as a changed body.
#[derive(Debug)]
pub(super) struct Mutant {
    /// Name in the output of cargo-mutants:
    /// `reference/src/week1/gqa/gqa.rs:30:12: replace < with <= in …`.
    pub(super) name: String,
    /// The task whose region contains the change.
    pub(super) task: TaskId,
    /// The lines of the file that [`Mutant::body`] replaces, counted from 0.
    pub(super) lines: Range<usize>,
    pub(super) body: String,
}

/// Returns the mutants of a file that are within its marked regions. `list` is the output of `cargo
/// mutants --list --json`.
///
/// # Errors
/// If the list is not in the format of this version of the tool.
pub(super) fn of_file(file: &Generated, text: &str, list: &[Value]) -> Result<Vec<Mutant>> {
    let lines: Vec<&str> = text.lines().collect();
    let path = format!("reference/{}", file.path);
    let mut mutants = Vec::new();
    for json in list.iter().filter(|json| json["file"].as_str() == Some(&path)) {
        let mutant = Change::read(json).with_context(|| format!("a mutant of {path}: {json}"))?;
        for region in file.template.regions() {
            let inside = region.line..region.line + region.body("").len();
            let body = match &region.function {
                Some(_) => Some(inside.clone()),
                None => place(&lines, &mutant.function).map(|place| place.body),
            };
            let Some(body) =
                body.filter(|body| inside.start <= body.start && body.end <= inside.end)
            else {
                continue;
            };
            let same_function = region.function.as_ref().is_none_or(|f| *f == mutant.function);
            let changed = mutant.changed(&lines, &body, same_function);
            if let Some(changed) = changed {
                mutants.push(Mutant {
                    name: mutant.name.clone(),
                    task: region.task.clone(),
                    lines: body,
                    body: changed,
                });
                break;
            }
        }
    }
    Ok(mutants)
}

/// One entry of cargo-mutants' list.
struct Change {
    name: String,
    function: String,
    /// Start of the replaced text, as line and column counted from 0. `end` has the same form.
    start: (usize, usize),
    end: (usize, usize),
    replacement: String,
}

impl Change {
    fn read(json: &Value) -> Result<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned).context("a text is missing");
        let number = |value: &Value| {
            let number = value.as_u64().and_then(|n| usize::try_from(n).ok());
            number.and_then(|n| n.checked_sub(1)).context("a place is missing")
        };
        let place = |end: &str| -> Result<(usize, usize)> {
            let place = &json["span"][end];
            Ok((number(&place["line"])?, number(&place["column"])?))
        };
        Ok(Self {
            name: text(&json["name"])?,
            // A constant is not in a function.
            function: json["function"]["function_name"].as_str().unwrap_or_default().to_owned(),
            start: place("start")?,
            end: place("end")?,
            replacement: text(&json["replacement"])?,
        })
    }

    /// Returns the lines `body` with this change. If it replaces the whole function around them,
    /// returns only the replacement. Returns `None` if it changes other lines.
    fn changed(&self, lines: &[&str], body: &Range<usize>, same_function: bool) -> Option<String> {
        let (start, end) = (self.start, self.end);
        if body.contains(&start.0) && body.contains(&end.0) {
            let column = |line: usize, column: usize| {
                lines[line].char_indices().nth(column).map_or(lines[line].len(), |(at, _)| at)
            };
            let before = &lines[start.0][..column(start.0, start.1)];
            let after = &lines[end.0][column(end.0, end.1)..];
            let middle = format!("{before}{}{after}", self.replacement);
            let parts =
                [&lines[body.start..start.0], &[middle.as_str()], &lines[end.0 + 1..body.end]];
            return Some(parts.concat().join("\n"));
        }
        let whole = start.0 <= body.start && body.end <= end.0 + 1;
        (whole && same_function).then(|| self.replacement.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(span: [usize; 4], replacement: &str) -> Option<String> {
        let [line, column, end_line, end_column] = span;
        let json = serde_json::json!({
            "name": "a change", "function": {"function_name": "one"}, "replacement": replacement,
            "span": {
                "start": {"line": line, "column": column},
                "end": {"line": end_line, "column": end_column},
            },
        });
        let lines = ["fn one() {", "    // SOLUTION", "    ä + 1;", "    2", "    // END", "}"];
        Change::read(&json).unwrap().changed(&lines, &(2..4), true)
    }

    #[test]
    fn changed_edits_the_lines_of_the_body() {
        assert_eq!(changed([3, 7, 3, 8], "-").as_deref(), Some("    ä - 1;\n    2"));
        assert_eq!(changed([3, 5, 4, 6], "0").as_deref(), Some("    0"));
        assert_eq!(changed([1, 10, 6, 2], "0").as_deref(), Some("0"));
        assert_eq!(changed([1, 4, 1, 7], "two"), None);
    }
}
