//! `{{#stub week1/attention/attention.rs softmax}}` shows an item as the learner sees it, extracted
//! from the reference. `{{#signature formats/src/tensor.rs matmul}}` shows a provided function
//! without its body.
//!
//! The sources are formatted by rustfmt, so an item ends at the closing brace with the same
//! indentation as its first line.

use std::path::Path;

use crate::markdown::{Problem, fences, line_of};

/// Replaces `{{#stub …}}` and `{{#signature …}}` outside code blocks with a file name and code.
pub(crate) fn expand(text: &str, repository: &Path, problems: &mut Vec<Problem>) -> String {
    let fences = fences(text);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let directive = line
            .trim()
            .strip_prefix("{{#")
            .and_then(|rest| rest.strip_suffix("}}"))
            .and_then(|rest| rest.split_once(' '));
        let shown = match directive {
            Some(("stub", item)) if item.starts_with("provided/") => {
                Some((item, "", "", Body::Stub))
            }
            Some(("stub", item)) => Some((item, "src", "reference/src", Body::Stub)),
            Some(("signature", item)) => Some((item, "", "", Body::None)),
            _ => None,
        };
        let Some((item, label, folder, body)) =
            shown.filter(|_| !fences.iter().any(|fence| fence.range.contains(&start)))
        else {
            out.push_str(line);
            continue;
        };
        match render(item, label, folder, body, repository) {
            Ok(block) => out.push_str(&block),
            Err(problem) => problems.push((line_of(text, start), problem)),
        }
    }
    out
}

/// The replacement for a function's body.
#[derive(Clone, Copy, PartialEq)]
enum Body {
    /// A task's body becomes a `todo!`. Other bodies are unchanged.
    Stub,
    /// No body: the signature ends with a semicolon.
    None,
}

/// Formats an item as Markdown. `directive` names the item's file and the item. The file is in
/// `folder` of the repository and is shown as a file in `label`.
fn render(
    directive: &str,
    label: &str,
    folder: &str,
    body: Body,
    repository: &Path,
) -> Result<String, String> {
    let [file, name] = directive.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(format!("a stub needs a file and an item; found {directive:?}"));
    };
    let (path, shown) = (Path::new(folder).join(file), Path::new(label).join(file));
    let source = std::fs::read_to_string(repository.join(&path))
        .map_err(|e| format!("stub: cannot read {}: {e}", path.display()))?;
    let item = find(&source, name, body).ok_or_else(|| {
        format!("stub: {} has no item {name:?} that learners see", path.display())
    })?;
    Ok(format!("<p class=\"file\">{}</p>\n\n```rust\n{item}\n```\n", shown.display()))
}

/// Returns the item `name` with its doc comment and attributes. `body` says what replaces its body.
fn find(source: &str, name: &str, body: Body) -> Option<String> {
    let lines = without_helpers(source);
    match name.split_once("::") {
        None => cut(&lines, "", name, name, body),
        Some((owner, method)) => {
            let mut rest = &lines[..];
            while let Some(start) = rest.iter().position(|line| is_impl_of(line, owner)) {
                let length = rest[start..].iter().position(|line| *line == "}")?;
                if let Some(item) = cut(&rest[start..start + length], "    ", method, name, body) {
                    return Some(format!("{}\n{item}\n}}", rest[start]));
                }
                rest = &rest[start + length..];
            }
            None
        }
    }
}

/// Removes regions marked `(helper)`, which the learner's files do not have.
fn without_helpers(source: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut in_helper = false;
    for line in source.lines() {
        in_helper |= line.trim_start().starts_with("// SOLUTION ") && line.ends_with("(helper)");
        if !in_helper {
            lines.push(line);
        }
        in_helper &= line.trim() != "// END SOLUTION";
    }
    lines
}

fn is_impl_of(line: &str, owner: &str) -> bool {
    let Some(rest) = line.strip_prefix("impl") else { return false };
    // Without text in angle brackets, the type is the last word.
    let mut depth = 0;
    let plain = rest.trim_end_matches('{').replace("->", "");
    let head: String = plain
        .chars()
        .filter(|c| {
            depth += i32::from(*c == '<');
            let outside = depth == 0;
            depth -= i32::from(*c == '>');
            outside
        })
        .collect();
    head.split_whitespace().last() == Some(owner)
}

fn cut(
    lines: &[&str],
    indent: &str,
    short_name: &str,
    full_name: &str,
    body: Body,
) -> Option<String> {
    let declared = lines.iter().position(|line| {
        line.strip_prefix(indent).is_some_and(|line| declares(line, short_name))
    })?;
    let is_heading =
        |line: &&str| line.trim_start().starts_with("///") || line.trim_start().starts_with("#[");
    let first =
        declared - lines[..declared].iter().rev().take_while(|line| is_heading(line)).count();
    let closes = |line: &str| {
        line.strip_prefix(indent)
            .is_some_and(|line| line.starts_with(['}', ']', ')']) && line.ends_with(['}', ';']))
    };
    let last = if lines[declared].ends_with([';', '}']) {
        declared
    } else {
        declared + 1 + lines[declared + 1..].iter().position(|line| closes(line))?
    };

    let mut out: Vec<String> = Vec::new();
    let mut in_solution = false;
    let is_function = lines[declared].contains("fn ");
    for (n, line) in lines.iter().enumerate().take(last + 1).skip(first) {
        if body == Body::None && is_function && n >= declared && line.ends_with('{') {
            out.push(format!("{};", line.trim_end_matches(" {")));
            break;
        }
        if let Some(marker) = line.trim_start().strip_prefix("// SOLUTION ") {
            let depth = &line[..line.len() - line.trim_start().len()];
            out.push(format!("{depth}todo!(\"{}: {full_name}\")", marker.trim()));
            in_solution = true;
        } else if line.trim() == "// END SOLUTION" {
            in_solution = false;
        } else if !in_solution {
            out.push((*line).to_owned());
        }
    }
    Some(out.join("\n"))
}

fn declares(line: &str, name: &str) -> bool {
    let mut words = line
        .split_whitespace()
        .skip_while(|word| word.starts_with("pub") || ["const", "async", "unsafe"].contains(word));
    // `const NAME` has lost its keyword above, so the name may come first.
    let word = words.next().unwrap_or_default();
    let named = if ["fn", "struct", "enum", "trait", "type", "static"].contains(&word) {
        words.next().unwrap_or_default()
    } else {
        word
    };
    let starts_item = line.starts_with("pub")
        || ["fn ", "struct ", "enum ", "trait ", "type ", "const ", "static "]
            .iter()
            .any(|k| line.starts_with(k));
    starts_item && named.split(['(', '<', ':', ';']).next() == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
/// Doubles.
pub fn double(x: f32) -> f32 {
    // SOLUTION week1-day1 task 1
    secret(x)
    // END SOLUTION
}

// SOLUTION week1-day1 task 1 (helper)
fn secret(x: f32) -> f32 {
    2.0 * x
}
// END SOLUTION

/// A pair.
#[derive(Debug)]
pub struct Pair {
    /// One.
    pub a: f32,
}

impl Pair {
    /// Sums.
    pub fn sum(
        &self,
    ) -> f32 {
        // SOLUTION week1-day1 task 2
        self.a
        // END SOLUTION
    }
}

/// A name for it.
pub type Both = Pair;
";

    #[test]
    fn replaces_a_task_body_with_todo() {
        let expected = "/// Doubles.\n\
                        pub fn double(x: f32) -> f32 {\n    todo!(\"week1-day1 task 1: double\")\n\
                        }";
        assert_eq!(find(SOURCE, "double", Body::Stub).unwrap(), expected);
    }

    #[test]
    fn finds_the_type_of_a_generic_impl() {
        for line in [
            "impl Engine {",
            "impl<C: Cache> Engine<C> {",
            "impl<C: Cache, P: Pass<C>> Engine<C, P> {",
            "impl Default for Engine<A, B> {",
            "impl<F: Fn(u32) -> u32> Engine<F> {",
        ] {
            assert!(is_impl_of(line, "Engine"), "{line}");
        }
        for line in ["impl Pass for Other<Engine> {", "impl<Engine> Other {", "pub struct Engine {"]
        {
            assert!(!is_impl_of(line, "Engine"), "{line}");
        }
    }

    #[test]
    fn shows_a_method_inside_its_impl() {
        let expected = "impl Pair {\n    /// Sums.\n    pub fn sum(\n        &self,\n    ) -> f32 \
                        {\n        todo!(\"week1-day1 task 2: Pair::sum\")\n    }\n\
                        }";
        assert_eq!(find(SOURCE, "Pair::sum", Body::Stub).unwrap(), expected);
    }

    #[test]
    fn shows_types_in_full() {
        assert_eq!(
            find(SOURCE, "Pair", Body::Stub).unwrap(),
            "/// A pair.\n#[derive(Debug)]\npub struct Pair {\n    /// One.\n    pub a: f32,\n}"
        );
        assert_eq!(
            find(SOURCE, "Both", Body::Stub).unwrap(),
            "/// A name for it.\npub type Both = Pair;"
        );
    }

    #[test]
    fn a_signature_has_no_body() {
        assert_eq!(
            find(SOURCE, "double", Body::None).unwrap(),
            "/// Doubles.\npub fn double(x: f32) -> f32;"
        );
        let expected =
            "impl Pair {\n    /// Sums.\n    pub fn sum(\n        &self,\n    ) -> f32;\n}";
        assert_eq!(find(SOURCE, "Pair::sum", Body::None).unwrap(), expected);
    }

    #[test]
    fn does_not_find_helpers_or_unknown_items() {
        assert_eq!(find(SOURCE, "secret", Body::Stub), None);
        assert_eq!(find(SOURCE, "Pair::difference", Body::Stub), None);
        assert_eq!(find(SOURCE, "doubl", Body::Stub), None);
    }

    #[test]
    fn a_missing_item_is_reported_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("reference/src")).unwrap();
        std::fs::write(folder.path().join("reference/src/a.rs"), SOURCE).unwrap();
        let mut problems = Vec::new();
        let out = expand(
            "text\n\n{{#stub a.rs double}}\n{{#stub a.rs triple}}\n",
            folder.path(),
            &mut problems,
        );
        assert!(out.contains("todo!(\"week1-day1 task 1: double\")"), "{out}");
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].0, 4);
    }
}
