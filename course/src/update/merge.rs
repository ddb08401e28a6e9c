//! Updates one of the learner's generated files to a newer course: a three-way merge of the present
//! stub, the learner's file and the newer stub.
//!
//! Before the merge, the stubs' `todo!` lines are made equal in all three texts, so that
//! renumbering a task causes no difference. Borrowed bodies are returned before the merge, and
//! afterwards borrowed again from the newer reference. A function that the learner has touched
//! keeps its body, even if the newer course provides it. If the newer course changes the signature
//! of such a function, there is no merge, unless the learner has already made the same change.

use std::collections::HashMap;

use crate::{
    git,
    learner::{function_state, is_course_todo},
    marks::{put_in, take_out_intact},
    source::{has_windows_ends, normalise, place},
    stubs::Generated,
    template::Template,
};

/// While texts are compared, this character and a function's name replace the `todo!` of that
/// function. No Rust file contains this character.
const TODO: char = '\u{1}';

/// Number of characters in a conflict marker. No line of a file contains a run of marker characters
/// this long.
const MARK: usize = 60;

/// Two versions of the same lines, which cannot both be kept.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// Description in one sentence, beginning with the file.
    pub(crate) what: String,
    /// The learner's lines.
    pub(crate) yours: String,
    /// The newer course's lines.
    pub(crate) newer: String,
}

/// Returns the newer file's text with the learner's work from `present`. Writes nothing.
///
/// # Errors
/// If there are conflicts. The error is the list of them.
pub(crate) fn merge(present: &Generated, newer: &Template) -> Result<String, Vec<Conflict>> {
    let newer_stub = newer.stub();
    let Some(raw) = &present.raw else { return Ok(newer_stub) };
    let (ours, returned) = take_out_intact(&present.template, &normalise(raw));
    let borrowed: Vec<String> = returned.into_iter().filter_map(|mark| mark.function).collect();

    let names = |template: &Template| {
        template.regions().filter_map(|region| region.function.clone()).collect::<Vec<_>>()
    };
    let (old_names, new_names) = (names(&present.template), names(newer));
    let all: Vec<String> = old_names.iter().chain(&new_names).cloned().collect();
    let mut texts = Texts {
        base: hide_todos(&present.stub, &all),
        ours: hide_todos(&ours, &all),
        newer: hide_todos(&newer_stub, &all),
    };

    let touched: Vec<&String> = old_names
        .iter()
        .filter(|function| function_state(&present.stub, &ours, function).is_work())
        .collect();
    for function in touched.iter().filter(|function| !new_names.contains(function)) {
        texts.keep_body(function);
    }
    let conflicts: Vec<Conflict> = touched
        .iter()
        .filter_map(|function| texts.changed_under(&present.path, function))
        .collect();
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    touched.iter().for_each(|function| texts.agree(function));
    let imports = texts.take_imports();
    let merged = with_imports(&texts.merged(&present.path)?, &imports);
    if let Some(lost) = texts.lost(&merged, &touched) {
        let what = format!("{}: these lines of yours would be lost in the merge", present.path);
        return Err(vec![Conflict { what, yours: lost, newer: newer_stub }]);
    }
    let shown = show_todos(&merged, newer);
    let open = |function: &str| !function_state(&newer_stub, &shown, function).is_work();
    let wanted = |function: &str| borrowed.iter().any(|name| name == function) && open(function);
    let (text, _) = put_in(newer, &shown, |_, function| wanted(function)).map_err(|error| {
        vec![Conflict {
            what: format!("{}: {error:#}", present.path),
            yours: String::new(),
            newer: String::new(),
        }]
    })?;
    Ok(if has_windows_ends(raw) { text.replace('\n', "\r\n") } else { text })
}

/// A file's present stub, the learner's file and the newer stub, all after [`hide_todos`].
struct Texts {
    base: String,
    ours: String,
    newer: String,
}

impl Texts {
    /// Returns a conflict if the newer course removes `function` or changes its signature. The
    /// learner has begun or written this function. If the learner has made the same change, there
    /// is no conflict.
    fn changed_under(&self, path: &str, function: &str) -> Option<Conflict> {
        let conflict = |why: &str, yours: String, newer: String| {
            Some(Conflict {
                what: format!("{path}: you have started or written {function}, and {why}"),
                yours,
                newer,
            })
        };
        let yours = part(&self.ours, function, Part::Whole).unwrap_or_default();
        let (Some(base), Some(newer)) =
            (part(&self.base, function, Part::Whole), part(&self.newer, function, Part::Whole))
        else {
            return conflict(
                "the newer course has no such function in this file",
                yours,
                String::new(),
            );
        };
        let adapted = part(&self.ours, function, Part::Signature)
            == part(&self.newer, function, Part::Signature)
            && part(&self.base, function, Part::Body) == part(&self.newer, function, Part::Body);
        if base == newer || adapted {
            None
        } else {
            conflict("the newer course changes its signature", yours, newer)
        }
    }

    /// Keeps the learner's body of `function`, which was a task and is now provided, if the
    /// learner's signature equals the newer one. For this, puts the old stub's body into the newer
    /// file.
    fn keep_body(&mut self, function: &str) {
        let base: Vec<&str> = self.base.lines().collect();
        let newer: Vec<&str> = self.newer.lines().collect();
        let (Some(old), Some(new)) = (place(&base, function), place(&newer, function)) else {
            return;
        };
        if part(&self.ours, function, Part::Signature)
            == part(&self.newer, function, Part::Signature)
        {
            let lines = [&newer[..new.body.start], &base[old.body], &newer[new.body.end..]];
            self.newer = lines.concat().join("\n") + "\n";
        }
    }

    /// If the learner has already given `function` the newer signature, puts that signature into
    /// the base. Without this, the change that both sides made would conflict with a neighbouring
    /// change that only one side made.
    fn agree(&mut self, function: &str) {
        let base: Vec<&str> = self.base.lines().collect();
        let newer: Vec<&str> = self.newer.lines().collect();
        let (Some(old), Some(new)) = (place(&base, function), place(&newer, function)) else {
            return;
        };
        if part(&self.ours, function, Part::Signature)
            == part(&self.newer, function, Part::Signature)
        {
            let lines =
                [&base[..old.signature.start], &newer[new.signature], &base[old.signature.end..]]
                    .concat();
            self.base = lines.join("\n") + "\n";
        }
    }

    /// Removes and returns the imports that the learner has added at the beginning of the file. The
    /// lines around imports change often and would cause conflicts.
    fn take_imports(&mut self) -> Vec<String> {
        let is_import = |line: &str| line.starts_with("use ") || line.starts_with("pub use ");
        let is_head =
            |line: &str| line.is_empty() || line.starts_with("//!") || line.starts_with([' ', '}']);
        let head = self.ours.lines().take_while(|line| is_import(line) || is_head(line)).count();
        let (mut kept, mut taken) = (String::new(), Vec::new());
        for (i, line) in self.ours.lines().enumerate() {
            let added = i < head && is_import(line) && line.ends_with(';');
            if added && !self.base.lines().any(|old| old == line) {
                taken.push(line.to_owned());
            } else {
                kept = kept + line + "\n";
            }
        }
        self.ours = kept;
        taken
    }

    fn merged(&self, path: &str) -> Result<String, Vec<Conflict>> {
        match git::merge(&self.base, &self.ours, &self.newer, MARK) {
            Ok((true, merged)) => Ok(merged),
            Ok((false, marked)) => Err(conflicts(path, &marked)),
            Err(error) => Err(vec![Conflict {
                what: format!("{path}: {error:#}"),
                yours: String::new(),
                newer: String::new(),
            }]),
        }
    }

    /// Returns the learner's work that `merged` lacks: the body of a function in `touched`, or an
    /// added line. There should be none. This check is a safety net.
    fn lost(&self, merged: &str, touched: &[&String]) -> Option<String> {
        for function in touched {
            let yours = part(&self.ours, function, Part::Body);
            if yours.is_some() && yours != part(merged, function, Part::Body) {
                return yours;
            }
        }
        let mut spare: HashMap<&str, usize> = HashMap::new();
        for line in merged.lines().chain(self.base.lines()) {
            *spare.entry(line).or_default() += 1;
        }
        let mut gone = Vec::new();
        for line in self.ours.lines() {
            match spare.get_mut(line) {
                Some(count) if *count > 0 => *count -= 1,
                _ => gone.push(line),
            }
        }
        (!gone.is_empty()).then(|| visible(&gone.join("\n")))
    }
}

/// Inserts these imports before the file's first item.
fn with_imports(text: &str, imports: &[String]) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let head = lines.iter().take_while(|line| line.is_empty() || line.starts_with("//!")).count();
    let new: Vec<&str> =
        imports.iter().map(String::as_str).filter(|import| !lines.contains(import)).collect();
    lines.splice(head..head, new);
    lines.join("\n") + "\n"
}

/// Parses `marked`, a merge with conflicts. Returns the conflicts, which are between markers.
fn conflicts(path: &str, marked: &str) -> Vec<Conflict> {
    let is = |line: &str, mark: &str| line.starts_with(&mark.repeat(MARK));
    let (mut found, mut side): (Vec<[String; 2]>, Option<usize>) = (Vec::new(), None);
    for line in marked.split_inclusive('\n') {
        if is(line, "<") {
            found.push(Default::default());
            side = Some(0);
        } else if is(line, "=") {
            side = Some(1);
        } else if is(line, ">") {
            side = None;
        } else if let (Some(side), Some(sides)) = (side, found.last_mut()) {
            sides[side].push_str(line);
        }
    }
    let what = format!("{path}: you and the newer course have both changed these lines");
    let conflict = |[yours, newer]: [String; 2]| Conflict {
        what: what.clone(),
        yours: visible(&yours),
        newer: visible(&newer),
    };
    found.into_iter().map(conflict).collect()
}

enum Part {
    Signature,
    Body,
    Whole,
}

/// Returns the signature, the body or all lines of a function. Hidden `todo!`s become `todo!()`.
fn part(text: &str, function: &str, part: Part) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let place = place(&lines, function)?;
    let range = match part {
        Part::Signature => place.signature,
        Part::Body => place.body,
        Part::Whole => place.whole(),
    };
    Some(visible(&lines[range].join("\n")))
}

/// Replaces each stub's `todo!` with [`TODO`] and the function's name. Unlike the `todo!`, this
/// line does not depend on the task's number.
fn hide_todos(text: &str, functions: &[String]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for function in functions {
        let seen: Vec<&str> = lines.iter().map(String::as_str).collect();
        let Some(place) = place(&seen, function) else { continue };
        for line in &mut lines[place.body] {
            if is_course_todo(line) {
                *line =
                    format!("{}{TODO}{function}", &line[..line.len() - line.trim_start().len()]);
            }
        }
    }
    lines.join("\n") + if text.ends_with('\n') { "\n" } else { "" }
}

/// Reverses [`hide_todos`], with the messages of `template`.
fn show_todos(text: &str, template: &Template) -> String {
    let mut shown = String::new();
    for line in text.split_inclusive('\n') {
        match line.split_once(TODO) {
            None => shown += line,
            Some((indent, function)) => {
                let region = template
                    .regions()
                    .find(|region| region.function.as_deref() == Some(function.trim_end()));
                let function = function.trim_end();
                // A function that was begun and is now provided keeps its lines and isn't a task
                // any more.
                let message = region
                    .map_or_else(|| function.to_owned(), |region| region.task.message(function));
                let end = if line.ends_with('\n') { "\n" } else { "" };
                shown += &format!("{indent}todo!({message:?}){end}");
            }
        }
    }
    shown
}

/// Replaces hidden `todo!`s with `todo!()`, for messages and comparisons.
fn visible(text: &str) -> String {
    let show = |line: &str| {
        line.split_once(TODO)
            .map_or_else(|| line.to_owned(), |(indent, _)| format!("{indent}todo!()"))
    };
    text.lines().map(show).collect::<Vec<_>>().join("\n")
}
