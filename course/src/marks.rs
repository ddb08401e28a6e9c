//! Marks of borrowed code in a learner's file.
//!
//! ```text
//!     // BORROWED week1-day2 task 3
//!     ...
//!     // END BORROWED
//! ```
//!
//! The lines between the marks are the reference's body, in place of the `todo!`. If a borrowed
//! body needs helpers that only the reference has, they are borrowed too. They are at the end of
//! the file, and their marks have ` (helper)` after the task. Borrowing and returning keep the
//! file's line ends.

use std::ops::Range;

use anyhow::{Result, bail};

use crate::{
    curriculum::TaskId,
    learner::is_course_todo,
    source::{enclosing_function, item_name, mentions, place},
    template::{Region, Template, parse_task},
};

const OPEN: &str = "// BORROWED ";
const CLOSE: &str = "// END BORROWED";

/// A borrowed part of a learner's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The task that the opening mark names.
    pub task: TaskId,
    /// The function that contains the borrowed part. `None` for a helper.
    pub function: Option<String>,
    /// The range of lines, counted from 0, including the marks.
    pub lines: Range<usize>,
    /// Whether the lines between the marks equal the reference's. Also false if the closing mark is
    /// missing.
    pub intact: bool,
}

impl Mark {
    /// Returns the name in messages: `rope_half_split`, or `a helper of week1-day7 task 2`.
    pub fn name(&self) -> String {
        self.function.clone().unwrap_or_else(|| format!("a helper of {}", self.task))
    }

    /// Returns the lines between the marks.
    fn inside(&self) -> Range<usize> {
        self.lines.start + 1..self.lines.end.max(self.lines.start + 2) - 1
    }

    /// If the closing mark is missing, returns the line number of the opening mark, counted from 1.
    pub fn unclosed(&self) -> Option<usize> {
        (self.lines.len() == 1).then_some(self.lines.start + 1)
    }
}

/// Returns the borrowed parts of `text`, from top to bottom.
pub fn marks(template: &Template, text: &str) -> Vec<Mark> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let Some((task, helper)) = opening(line) else { continue };
        let inside = lines[i + 1..]
            .iter()
            .take_while(|line| opening(line).is_none() && line.trim() != CLOSE)
            .count();
        let close = i + 1 + inside;
        let closed = lines.get(close).is_some_and(|line| line.trim() == CLOSE);
        let function = if helper { None } else { enclosing_function(&lines, i) };
        let same = |region: &Region| {
            region.task == task
                && region.function == function
                && region.body(leading(line)).iter().eq(&lines[i + 1..close])
        };
        let intact = closed && template.regions().any(same);
        found.push(Mark {
            task,
            function,
            lines: i..if closed { close + 1 } else { i + 1 },
            intact,
        });
    }
    found
}

/// Borrows each function that satisfies `wanted`: replaces its `todo!` with the reference's body,
/// and adds required helpers. Returns the new text and the names of the borrowed functions.
///
/// # Errors
/// If a required helper has the same name as one of the learner's items.
pub fn put_in(
    template: &Template,
    text: &str,
    wanted: impl Fn(&TaskId, &str) -> bool,
) -> Result<(String, Vec<String>)> {
    let (mut text, mut put) = (text.to_owned(), Vec::new());
    for region in template.regions() {
        let Some(function) =
            region.function.as_deref().filter(|function| wanted(&region.task, function))
        else {
            continue;
        };
        let lines: Vec<&str> = text.lines().collect();
        let todo = place(&lines, function)
            .and_then(|place| place.body.clone().find(|&i| is_course_todo(lines[i])));
        let Some(at) = todo else { continue };
        let raw: Vec<&str> = text.split_inclusive('\n').collect();
        let (indent, end) = (leading(lines[at]), ending(raw[at]));
        // Spaces after the `todo!` are moved to the end of the mark, so that returning restores
        // them.
        let trailing = &lines[at][lines[at].trim_end().len()..];
        let mut block = format!("{indent}{OPEN}{}{trailing}{end}", region.task);
        for line in region.body(indent) {
            block += &format!("{line}{end}");
        }
        block += &format!("{indent}{CLOSE}{end}");
        text = replaced(&raw, at..at + 1, &block);
        put.push(function.to_owned());
    }
    Ok((with_helpers(template, text)?, put))
}

/// Restores the `todo!` of each borrowed function that satisfies `chosen`, and removes the helpers
/// that no borrowed body needs any more. Returns the new text and all parts that were removed.
pub fn take_out(
    template: &Template,
    text: &str,
    chosen: impl Fn(&Mark) -> bool,
) -> (String, Vec<Mark>) {
    take(template, text, chosen, |_| true)
}

/// Like [`take_out`], for all borrowed parts that the learner has not changed.
pub fn take_out_intact(template: &Template, text: &str) -> (String, Vec<Mark>) {
    take(template, text, |mark| mark.intact, |mark| mark.intact)
}

/// Like [`take_out`], but removes an unneeded helper only if it satisfies `helpers_too`.
fn take(
    template: &Template,
    text: &str,
    chosen: impl Fn(&Mark) -> bool,
    helpers_too: impl Fn(&Mark) -> bool,
) -> (String, Vec<Mark>) {
    let (functions, helpers): (Vec<Mark>, Vec<Mark>) =
        marks(template, text).into_iter().partition(|mark| mark.function.is_some());
    let (out, stay): (Vec<Mark>, Vec<Mark>) = functions.into_iter().partition(|mark| chosen(mark));
    let lines: Vec<&str> = text.lines().collect();
    let code = |mark: &Mark| lines[mark.inside()].join("\n");
    let needed = closure(stay.iter().map(code).collect(), &helpers, |mark| code(mark));
    let idle = helpers.iter().filter(|mark| !needed.contains(mark) && helpers_too(mark)).cloned();
    let mut out: Vec<Mark> = out.into_iter().chain(idle).collect();
    out.sort_by_key(|mark| mark.lines.start);

    let mut text = text.to_owned();
    for mark in out.iter().rev() {
        let raw: Vec<&str> = text.split_inclusive('\n').collect();
        text = match &mark.function {
            Some(function) => {
                let open = raw[mark.lines.start].trim_end_matches(['\r', '\n']);
                let trailing = &open[open.trim_end().len()..];
                let todo = format!(
                    "{}todo!(\"{}\"){trailing}{}",
                    leading(open),
                    mark.task.message(function),
                    ending(raw[mark.lines.start])
                );
                replaced(&raw, mark.lines.clone(), &todo)
            }
            None => without_helper(&raw, mark.lines.clone()),
        };
    }
    (text, out)
}

/// Appends the helpers that borrowed bodies need and that the text does not have yet.
fn with_helpers(template: &Template, mut text: String) -> Result<String> {
    let found = marks(template, &text);
    let lines: Vec<&str> = text.lines().collect();
    let bodies = found.iter().map(|mark| lines[mark.inside()].join("\n")).collect();
    let helpers: Vec<&Region> =
        template.regions().filter(|region| region.function.is_none()).collect();
    let needed = closure(bodies, &helpers, |region| region.body("").join("\n"));
    let outside = |i: usize| !found.iter().any(|mark| mark.lines.contains(&i));
    let mut blocks = Vec::new();
    for region in needed {
        let body = region.body("");
        let names = || body.iter().filter_map(|line| item_name(line));
        let there =
            |i: &usize| item_name(lines[*i]).is_some_and(|name| names().any(|own| own == name));
        let standing: Vec<usize> = (0..lines.len()).filter(there).collect();
        if let Some(name) =
            standing.iter().find(|&&i| outside(i)).and_then(|&i| item_name(lines[i]))
        {
            bail!(
                "you define `{name}`, and the reference's code for {} defines `{name}` too: rename \
                 yours first",
                region.task
            );
        }
        if standing.is_empty() {
            blocks.push((format!("{OPEN}{} (helper)", region.task), body));
        }
    }
    let end = text.split_inclusive('\n').next().map_or("\n", ending).to_owned();
    for (open, body) in blocks {
        // If the file does not end with a line feed, the new file doesn't either: the line feed
        // goes before the block.
        let ends = text.ends_with('\n');
        let block =
            [open].into_iter().chain(body).chain([CLOSE.to_owned()]).collect::<Vec<_>>().join(&end);
        text += &if ends { format!("{end}{block}{end}") } else { format!("{end}{block}") };
    }
    Ok(text)
}

/// Returns those of `helpers` that `bodies` use, directly or through other helpers. `code` returns
/// the text of a helper.
fn closure<T: PartialEq>(
    mut bodies: Vec<String>,
    helpers: &[T],
    code: impl Fn(&T) -> String,
) -> Vec<&T> {
    let mut needed: Vec<&T> = Vec::new();
    loop {
        let next = helpers.iter().find(|helper| {
            let code = code(helper);
            let mut names = code.lines().filter_map(item_name);
            !needed.contains(helper)
                && names.any(|name| bodies.iter().any(|body| mentions(body, name)))
        });
        let Some(next) = next else { return needed };
        bodies.push(code(next));
        needed.push(next);
    }
}

/// Removes the helper at `lines`, and the blank line or line end that was added with it.
fn without_helper(raw: &[&str], lines: Range<usize>) -> String {
    let at_end = lines.end == raw.len() && !raw[lines.end - 1].ends_with('\n');
    let blank = lines.start > 0 && matches!(raw[lines.start - 1], "\n" | "\r\n");
    if at_end {
        let text = replaced(raw, lines, "");
        return text
            .strip_suffix("\r\n")
            .or_else(|| text.strip_suffix('\n'))
            .unwrap_or(&text)
            .to_owned();
    }
    replaced(raw, lines.start - usize::from(blank)..lines.end, "")
}

fn replaced(raw: &[&str], lines: Range<usize>, by: &str) -> String {
    raw[..lines.start].concat() + by + &raw[lines.end..].concat()
}

/// Parses the opening mark of a borrowed part. Returns the task, and whether the part is a helper.
fn opening(line: &str) -> Option<(TaskId, bool)> {
    parse_task(line.trim().strip_prefix(OPEN)?)
}

fn leading(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

fn ending(raw: &str) -> &str {
    if raw.ends_with("\r\n") { "\r\n" } else { "\n" }
}
