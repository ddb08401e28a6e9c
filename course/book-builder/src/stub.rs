//! `{{#stub week1/attention/attention.rs softmax}}` shows an item as the learner sees it, extracted
//! from the reference. `{{#signature formats/src/tensor.rs matmul}}` shows a provided function
//! without its body.
//!
//! The sources are formatted by rustfmt, so an item ends at the closing brace with the same
//! indentation as its first line.

use std::path::Path;

use course::{
    curriculum::Curriculum,
    source::{item_name, place},
    template::Template,
};

use crate::markdown::{self, Problem};

/// Replaces `{{#stub …}}` and `{{#signature …}}` outside code blocks with a file name and code.
pub(crate) fn expand(text: &str, repository: &Path, problems: &mut Vec<Problem>) -> String {
    markdown::expand(text, problems, |directive, item| {
        let (label, folder, body) = match directive {
            "stub" if item.starts_with("provided/") => ("", "", Body::Stub),
            "stub" => ("src", "reference/src", Body::Stub),
            "signature" => ("", "", Body::None),
            _ => return None,
        };
        Some(render(item, label, folder, body, repository))
    })
}

/// The replacement for a function's body.
#[derive(Clone, Copy, PartialEq)]
enum Body {
    /// The body is unchanged. In a stub, a task's body is a `todo!`.
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
    let stub = Template::parse(&path.to_string_lossy(), &source, &Curriculum::default())
        .map_err(|error| format!("stub: {error:#}"))?
        .stub();
    let item = find(&stub, name, body).ok_or_else(|| {
        format!("stub: {} has no item {name:?} that learners see", path.display())
    })?;
    Ok(format!("<p class=\"file\">{}</p>\n\n```rust\n{item}\n```\n", shown.display()))
}

/// Returns the item `name` with its doc comment and attributes. `body` says what replaces its body.
fn find(source: &str, name: &str, body: Body) -> Option<String> {
    let lines: Vec<&str> = source.lines().collect();
    let function = place(&lines, name);
    let item = match &function {
        Some(function) if body == Body::None => function.signature.clone(),
        Some(function) => function.whole(),
        None => {
            let first = lines.iter().position(|line| item_name(line) == Some(name))?;
            let closes =
                |line: &&str| line.starts_with(['}', ']', ')']) && line.ends_with(['}', ';']);
            let is_one_line = lines[first].ends_with([';', '}']);
            let more = if is_one_line { 0 } else { lines[first..].iter().position(closes)? };
            first..first + more + 1
        }
    };
    let is_heading =
        |line: &&&str| line.trim_start().starts_with("///") || line.trim_start().starts_with("#[");
    let heading = lines[..item.start].iter().rev().take_while(is_heading).count();
    let mut shown = lines[item.start - heading..item.end].join("\n");
    if function.is_some() && body == Body::None {
        shown = format!("{};", shown.trim_end_matches(" {"));
    }
    if name.contains("::") {
        let owner = lines[..item.start].iter().rfind(|line| line.starts_with("impl"))?;
        shown = format!("{owner}\n{shown}\n}}");
    }
    Some(shown)
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

    fn found(name: &str, body: Body) -> Option<String> {
        let template = Template::parse("a.rs", SOURCE, &Curriculum::default()).unwrap();
        find(&template.stub(), name, body)
    }

    #[test]
    fn replaces_a_task_body_with_todo() {
        let expected = "/// Doubles.\n\
                        pub fn double(x: f32) -> f32 {\n    todo!(\"week1-day1 task 1: double\")\n\
                        }";
        assert_eq!(found("double", Body::Stub).unwrap(), expected);
    }

    #[test]
    fn shows_a_method_inside_its_impl() {
        let expected = "impl Pair {\n    /// Sums.\n    pub fn sum(\n        &self,\n    ) -> f32 \
                        {\n        todo!(\"week1-day1 task 2: Pair::sum\")\n    }\n\
                        }";
        assert_eq!(found("Pair::sum", Body::Stub).unwrap(), expected);
    }

    #[test]
    fn shows_types_in_full() {
        assert_eq!(
            found("Pair", Body::Stub).unwrap(),
            "/// A pair.\n#[derive(Debug)]\npub struct Pair {\n    /// One.\n    pub a: f32,\n}"
        );
        assert_eq!(found("Both", Body::Stub).unwrap(), "/// A name for it.\npub type Both = Pair;");
    }

    #[test]
    fn a_signature_has_no_body() {
        assert_eq!(
            found("double", Body::None).unwrap(),
            "/// Doubles.\npub fn double(x: f32) -> f32;"
        );
        let expected =
            "impl Pair {\n    /// Sums.\n    pub fn sum(\n        &self,\n    ) -> f32;\n}";
        assert_eq!(found("Pair::sum", Body::None).unwrap(), expected);
    }

    #[test]
    fn does_not_find_helpers_or_unknown_items() {
        assert_eq!(found("secret", Body::Stub), None);
        assert_eq!(found("Pair::difference", Body::Stub), None);
        assert_eq!(found("doubl", Body::Stub), None);
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
