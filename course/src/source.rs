//! Parses the parts of Rust's grammar that the runner needs: which function contains a line, and
//! the body of a function.
//!
//! The parser relies on rustfmt's indentation. In a learner's file with another layout, an
//! untouched stub is not recognised and counts as the learner's work, which is safe.

use std::{collections::BTreeSet, ops::Range};

/// Replaces CRLF, which git may have written, with `\n`.
pub fn normalise(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Returns whether the text has line ends and all of them are CRLF.
pub fn has_windows_ends(text: &str) -> bool {
    text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count()
}

/// Returns the number of leading spaces.
pub fn indentation(line: &str) -> usize {
    line.bytes().take_while(|&byte| byte == b' ').count()
}

/// Returns the name of the function that contains line `at`, with its type if it is a method:
/// `softmax`, `Embedding::forward`.
pub fn enclosing_function(lines: &[&str], at: usize) -> Option<String> {
    let function_line = enclosing_function_line(lines, at)?;
    qualified_name(lines, function_line)
}

/// The lines of a function in a file, as ranges counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The lines from `fn` to the line that ends in `{`.
    pub signature: Range<usize>,
    /// The lines between the signature and the closing brace.
    pub body: Range<usize>,
}

impl Place {
    /// Returns all lines: signature, body and closing brace.
    pub fn whole(&self) -> Range<usize> {
        self.signature.start..self.body.end + 1
    }
}

/// Returns the body of the function with this name, which is the lines between its signature and
/// its closing brace.
pub fn function_body<'a>(lines: &'a [&'a str], function: &str) -> Option<&'a [&'a str]> {
    place(lines, function).map(|place| &lines[place.body])
}

/// Finds the lines of the function with this name: `softmax`, `Embedding::forward`.
pub fn place(lines: &[&str], function: &str) -> Option<Place> {
    let name = function.rsplit("::").next();
    let start = (0..lines.len()).find(|&i| {
        function_name(lines[i]) == name && qualified_name(lines, i).as_deref() == Some(function)
    })?;
    let indent = indentation(lines[start]);
    let open = start + lines[start..].iter().position(|line| line.contains('{'))?;
    if !lines[open].trim_end().ends_with('{') {
        return None; // The body is on the same line, or a comment follows the brace.
    }
    let length = lines[open + 1..]
        .iter()
        .position(|line| !line.trim().is_empty() && indentation(line) <= indent)?;
    Some(Place { signature: start..open + 1, body: open + 1..open + 1 + length })
}

/// Returns the name of the item that begins at `line`: a function, type, trait or constant. Returns
/// `None` for an indented line.
pub fn item_name(line: &str) -> Option<&str> {
    if line.starts_with(' ') {
        return None;
    }
    let mut code = line;
    while let Some(rest) = ["pub ", "pub(crate) ", "pub(super) ", "async ", "unsafe "]
        .iter()
        .find_map(|q| code.strip_prefix(q))
    {
        code = rest;
    }
    let kinds = ["const fn ", "fn ", "const ", "static ", "struct ", "enum ", "type ", "trait "];
    identifier(kinds.iter().find_map(|kind| code.strip_prefix(kind))?)
}

/// Returns the names of all functions, methods (with their types) and other items of a file.
pub fn names(text: &str) -> BTreeSet<String> {
    let lines: Vec<&str> = text.lines().collect();
    let functions = (0..lines.len()).filter_map(|i| qualified_name(&lines, i));
    let items = lines.iter().filter_map(|line| item_name(line)).map(str::to_owned);
    functions.chain(items).collect()
}

/// Returns whether a name occurs in `text` as a whole word, even in a comment.
pub fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

fn enclosing_function_line(lines: &[&str], at: usize) -> Option<usize> {
    let mut indent = indentation(lines[at]);
    for i in (0..at).rev() {
        let (line, code) = (lines[i], lines[i].trim());
        if code.is_empty() || code.starts_with("//") || indentation(line) >= indent {
            continue;
        }
        indent = indentation(line);
        if function_name(line).is_some() {
            return Some(i);
        }
        if code.starts_with(')')
            || code.starts_with("where")
            || (code.starts_with('}') && code.ends_with('{'))
        {
            // This line is the end of a signature, or `} else {`. It continues a line with the same
            // indentation.
            indent += 1;
        } else if code.starts_with('}') {
            // A sibling ends here, so no earlier line at this depth encloses line `at`.
            return None;
        }
    }
    None
}

fn qualified_name(lines: &[&str], function_line: usize) -> Option<String> {
    let name = function_name(lines[function_line])?;
    let mut indent = indentation(lines[function_line]);
    for line in lines[..function_line].iter().rev() {
        if indent == 0 {
            break;
        }
        let depth = indentation(line);
        if depth >= indent {
            continue;
        }
        let code = line.trim();
        if code.is_empty() || code.starts_with("//") {
            continue;
        }
        indent = depth;
        if let Some(of) = type_name(code) {
            return Some(format!("{of}::{name}"));
        }
    }
    Some(name.to_owned())
}

fn function_name(line: &str) -> Option<&str> {
    let mut code = line.trim_start();
    while let Some(rest) = ["pub ", "pub(crate) ", "pub(super) ", "const ", "async ", "unsafe "]
        .iter()
        .find_map(|q| code.strip_prefix(q))
    {
        code = rest;
    }
    identifier(code.strip_prefix("fn ")?)
}

/// Returns the type of `impl … Type<…> {` or `impl Trait for Type {`.
fn type_name(code: &str) -> Option<&str> {
    let mut rest = code.strip_prefix("unsafe ").unwrap_or(code).strip_prefix("impl")?;
    if rest.starts_with('<') {
        let (mut depth, mut before) = (0, ' ');
        let end = rest.find(|c| {
            // The `>` of `->` closes nothing.
            depth += i32::from(c == '<') - i32::from(c == '>' && before != '-');
            before = c;
            depth == 0
        })?;
        rest = &rest[end + 1..];
    }
    let of = rest.rsplit_once(" for ").map_or(rest, |(_, of)| of).trim_start();
    let path = of.split(['<', '{', ' ']).next()?;
    identifier(path.rsplit("::").next()?)
}

fn identifier(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
pub fn plain(
    x: u32,
) -> u32 {
    if x > 0 {
        1
    } else {
        2 // in plain
    }
}

impl<'a, T: Into<u8>, F: Fn() -> T> fmt::Display for Shape<'a, F> {
    pub(crate) const fn method(&self) {
        // in method
    }

    // between
}

// at item level
";

    fn at(needle: &str) -> Option<String> {
        let lines: Vec<&str> = FILE.lines().collect();
        enclosing_function(&lines, lines.iter().position(|line| line.contains(needle)).unwrap())
    }

    #[test]
    fn finds_the_enclosing_function() {
        assert_eq!(at("in plain").as_deref(), Some("plain"));
        assert_eq!(at("in method").as_deref(), Some("Shape::method"));
        assert_eq!(at("between"), None);
        assert_eq!(at("item level"), None);
    }

    #[test]
    fn returns_item_names() {
        let names = [
            "pub(crate) const fn one() {",
            "const TWO: u32 = 2;",
            "struct Three<T>(T);",
            "    fn four() {",
            "// fn five() {",
        ];
        assert_eq!(names.map(item_name), [Some("one"), Some("TWO"), Some("Three"), None, None]);
        assert!(mentions("f(one)", "one") && !mentions("f(one_two)", "one"));
    }

    #[test]
    fn finds_function_bodies() {
        let lines: Vec<&str> = FILE.lines().collect();
        assert_eq!(function_body(&lines, "Shape::method").unwrap(), ["        // in method"]);
        assert_eq!(function_body(&lines, "plain").unwrap().len(), 5);
        assert_eq!(function_body(&lines, "method"), None);
        assert_eq!(place(&lines, "plain"), Some(Place { signature: 0..3, body: 3..8 }));
        assert_eq!(lines[place(&lines, "Shape::method").unwrap().whole()].last(), Some(&"    }"));
    }
}
