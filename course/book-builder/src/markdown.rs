//! Parses Markdown in the same way as mdBook, with positions.

use std::ops::Range;

use pulldown_cmark::{Event, OffsetIter, Options, Parser};

/// A problem: its line, counted from 1, and a description.
pub(crate) type Problem = (usize, String);

/// Returns the parse events of `text`, including formulas, each with its byte range.
pub(crate) fn events(text: &str) -> OffsetIter<'_> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_DEFINITION_LIST
        | Options::ENABLE_GFM
        | Options::ENABLE_MATH;
    Parser::new_ext(text, options).into_offset_iter()
}

/// Returns the number, counted from 1, of the line that contains the byte at index `at`.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text[..at].bytes().filter(|&b| b == b'\n').count() + 1
}

/// A fenced code block: its info string, the line number of its fence, its contents.
pub(crate) struct Fence {
    pub(crate) info: String,
    pub(crate) line: usize,
    pub(crate) text: String,
    pub(crate) range: Range<usize>,
}

/// Returns every fenced code block of `text`.
pub(crate) fn fences(text: &str) -> Vec<Fence> {
    use pulldown_cmark::{CodeBlockKind, Tag, TagEnd};
    let mut fences = Vec::new();
    let mut open: Option<Fence> = None;
    for (event, range) in events(text) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                open = Some(Fence {
                    info: info.into_string(),
                    line: line_of(text, range.start),
                    text: String::new(),
                    range,
                });
            }
            Event::Text(part) => {
                if let Some(fence) = &mut open {
                    fence.text.push_str(&part);
                }
            }
            Event::End(TagEnd::CodeBlock) => fences.extend(open.take()),
            _ => {}
        }
    }
    fences
}

/// Replaces each line `{{#NAME ARGUMENT}}` outside code blocks with the text that `replacement`
/// returns for the name and the argument. If it returns `None`, the line stays.
pub(crate) fn expand(
    text: &str,
    problems: &mut Vec<Problem>,
    replacement: impl Fn(&str, &str) -> Option<Result<String, String>>,
) -> String {
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
            .and_then(|rest| rest.split_once(' '))
            .filter(|_| !fences.iter().any(|fence| fence.range.contains(&start)));
        match directive.and_then(|(name, argument)| replacement(name, argument)) {
            None => out.push_str(line),
            Some(Ok(block)) => out.push_str(&block),
            Some(Err(problem)) => problems.push((line_of(text, start), problem)),
        }
    }
    out
}
