//! Completes the pages that mdBook has built: a title with the week, a description for each page,
//! and links to its source and to the list of issues.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use crate::chapters::{SOURCES, chapters};

/// Maximum number of characters in a description, as shown by search engines.
const DESCRIPTION: usize = 160;

/// Completes every page in `built`. `hosted` is the repository's URL, such as
/// `https://github.com/owner/name`, if there is one.
pub(crate) fn pages(repository: &Path, built: &Path, hosted: Option<&str>) -> Result<()> {
    for chapter in chapters(repository)? {
        let source = fs::read_to_string(repository.join(&chapter))?;
        let page =
            chapter.trim_start_matches(SOURCES).trim_start_matches('/').replace(".md", ".html");
        let path = built.join(&page);
        let html =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        fs::write(&path, finished(&html, &source, &chapter, hosted))?;
    }
    Ok(())
}

fn finished(html: &str, source: &str, chapter: &str, hosted: Option<&str>) -> String {
    let mut html = html.to_owned();
    if let Some(week) = week(chapter) {
        html = html.replacen("<title>", &format!("<title>{week}, "), 1);
    }
    let described =
        format!("<meta name=\"description\" content=\"{}\">", escaped(&summary(source)));
    html = html.replacen("<meta name=\"description\" content=\"\">", &described, 1);
    // An empty corner cell of a table is not a heading.
    html = html.replace("<th></th>", "<td></td>");
    if let Some(hosted) = hosted {
        let title = escaped(chapter).replace('/', "%2F");
        let links = format!(
            "<p class=\"source\"><a href=\"{hosted}/blob/main/{chapter}\">Source of this page</a> · \
             <a href=\"{hosted}/issues/new?title={title}\">Report a problem</a></p>\n</main>"
        );
        html = html.replacen("</main>", &links, 1);
    }
    html
}

/// Returns `Week 2` for `book/src/week2/day6.md`.
fn week(chapter: &str) -> Option<String> {
    let folder = chapter.strip_prefix(SOURCES)?.trim_start_matches('/').split_once('/')?.0;
    let number = folder.strip_prefix("week")?;
    Some(format!("Week {number}"))
}

/// Returns a page's first long paragraph as plain text, shortened to [`DESCRIPTION`] characters.
fn summary(source: &str) -> String {
    let says = |part: &&str| {
        part.starts_with(|c: char| c.is_alphanumeric() || "*`".contains(c)) && part.len() > 60
    };
    let paragraph = source.split("\n\n").map(str::trim).find(says).unwrap_or_default();
    let mut text = String::new();
    let mut rest = paragraph;
    // Replaces each link with its label.
    while let Some((before, after)) = rest.split_once('[') {
        text.push_str(before);
        let Some((label, target)) = after.split_once("](") else {
            text.push('[');
            rest = after;
            continue;
        };
        text.push_str(label);
        rest = target.split_once(')').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    let text: String = text.chars().filter(|c| !"*`$".contains(*c)).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut short = String::new();
    for word in words {
        if short.chars().count() + word.chars().count() + 2 > DESCRIPTION {
            short.push('…');
            break;
        }
        if !short.is_empty() {
            short.push(' ');
        }
        short.push_str(word);
    }
    short
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<title>Day 6: SIMD - The book</title>\n\
        <meta name=\"description\" content=\"\">\n<main>text\n</main>";

    #[test]
    fn adds_the_week_and_a_description() {
        let source = "# Day 6\n\n> [!NOTE]\n> A note.\n\nShort.\n\nA *vector* of [numbers](day1.md) \"as\" one: \
                      eight at a time, or sixteen.\n\nMore.\n";
        let html = finished(PAGE, source, "book/src/week2/day6.md", None);
        assert!(html.contains("<title>Week 2, Day 6: SIMD - The book</title>"), "{html}");
        assert!(html.contains("content=\"A vector of numbers &quot;as&quot; one: eight"), "{html}");
        assert!(!html.contains("Report"));
    }

    #[test]
    fn links_a_hosted_page_to_its_source() {
        let html = finished(PAGE, "", "book/src/setup.md", Some("https://example.org/a/b"));
        assert!(html.contains("<title>Day 6"), "{html}");
        assert!(html.contains("href=\"https://example.org/a/b/blob/main/book/src/setup.md\""));
        assert!(html.contains("issues/new?title=book%2Fsrc%2Fsetup.md"), "{html}");
    }

    #[test]
    fn cuts_a_long_paragraph_between_words() {
        let short = summary(&"word ".repeat(100));
        assert!(short.ends_with("word…") && short.chars().count() <= DESCRIPTION, "{short}");
    }
}
