//! Inlines drawings into the page, so that `currentColor` is the colour of the page's text in every
//! theme.

use std::{fs, path::Path};

use pulldown_cmark::{Event, Tag, TagEnd};

use crate::markdown::{Problem, events, line_of};

/// Replaces SVG images in `text` with the contents of their files. Paths are relative to `folder`.
pub(crate) fn inline(text: &str, folder: &Path, problems: &mut Vec<Problem>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    let mut open: Option<(String, String, usize)> = None;
    for (event, range) in events(text) {
        match event {
            Event::Start(Tag::Image { dest_url, .. }) if dest_url.ends_with(".svg") => {
                open = Some((dest_url.into_string(), String::new(), range.start));
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some((_, description, _)) = &mut open {
                    description.push_str(&part);
                }
            }
            Event::End(TagEnd::Image) => {
                let Some((path, description, start)) = open.take() else { continue };
                out.push_str(&text[done..start]);
                match fs::read_to_string(folder.join(&path)) {
                    Ok(drawing) => out.push_str(&element(&drawing, &description)),
                    Err(error) => {
                        problems.push((line_of(text, start), format!("figure {path:?}: {error}")));
                    }
                }
                done = range.end;
            }
            _ => {}
        }
    }
    out.push_str(&text[done..]);
    out
}

/// Returns a drawing as one line, which Markdown treats as a single piece of HTML.
fn element(drawing: &str, description: &str) -> String {
    let svg = drawing.find("<svg").map_or(drawing, |start| &drawing[start..]);
    // A style sheet inside a drawing would apply to the whole page.
    let svg = match (svg.find("<style"), svg.find("</style>")) {
        (Some(start), Some(end)) => format!("{}{}", &svg[..start], &svg[end + "</style>".len()..]),
        _ => svg.to_owned(),
    };
    let svg = svg.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let description = description.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    format!("<span class=\"figure\" role=\"img\" aria-label=\"{description}\">{svg}</span>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inlines_a_drawing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join("a.svg"),
            "<?xml?>\n<svg>\n<style>*{}</style>\n <path/>\n</svg>\n",
        )
        .unwrap();
        let mut problems = Vec::new();
        let out = inline("see\n\n![a \"b\"](a.svg)\n\n*caption*\n", folder.path(), &mut problems);
        let svg = "<span class=\"figure\" role=\"img\" aria-label=\"a &quot;b&quot;\"><svg>  \
                   <path/> </svg></span>";
        assert_eq!(out, format!("see\n\n{svg}\n\n*caption*\n"));
        inline("\n![a](b.svg)", folder.path(), &mut problems);
        assert_eq!(problems[0].0, 2);
    }
}
