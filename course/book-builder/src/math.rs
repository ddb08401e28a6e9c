//! Converts `$…$` and `$$…$$` to MathML, which browsers display without a script.

use pulldown_cmark::Event;
use pulldown_latex::{Parser, RenderConfig, Storage, config::DisplayMode, push_mathml};

use crate::markdown::{Problem, events, line_of};

/// Replaces every formula in `text` with MathML.
pub(crate) fn typeset(text: &str, problems: &mut Vec<Problem>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (event, range) in events(text) {
        let (latex, display_mode) = match event {
            Event::InlineMath(latex) => (latex, DisplayMode::Inline),
            Event::DisplayMath(latex) => (latex, DisplayMode::Block),
            _ => continue,
        };
        out.push_str(&text[done..range.start]);
        match mathml(&latex, display_mode) {
            Ok(formula) => out.push_str(&formula),
            Err(error) => {
                problems.push((line_of(text, range.start), format!("formula {latex:?}: {error}")));
            }
        }
        done = range.end;
    }
    out.push_str(&text[done..]);
    out
}

fn mathml(latex: &str, display_mode: DisplayMode) -> Result<String, String> {
    let storage = Storage::new();
    let events: Vec<_> = Parser::new(latex, &storage).collect();
    if let Some(error) = events.iter().find_map(|event| event.as_ref().err()) {
        // The parser's message shows the formula on several lines. Its first line describes the
        // problem.
        return Err(error.to_string().lines().next().unwrap_or("cannot be read").to_owned());
    }
    let mut out = String::new();
    let config = RenderConfig { display_mode, ..RenderConfig::default() };
    push_mathml(&mut out, events.into_iter(), config).map_err(|e| e.to_string())?;
    // Corrects two errors of pulldown-latex 0.8: for `\bigl(` and similar commands, it omits the
    // space before an attribute, and for `\ `, it escapes the character reference.
    Ok(shield(&out.replace("\"minsize=", "\" minsize=").replace("&amp;nbsp;", "\u{a0}")))
}

/// Replaces punctuation between tags with character references. The result is parsed as Markdown
/// again, and a formula's `*`, `_` or `|` must not become markup.
fn shield(mathml: &str) -> String {
    let mut out = String::with_capacity(mathml.len());
    let (mut in_tag, mut in_reference) = (false, false);
    for c in mathml.chars() {
        match c {
            '<' => in_tag = true,
            '&' => in_reference = true,
            _ => {}
        }
        if c == '\n' {
            out.push(' ');
        } else if c.is_ascii_punctuation() && !in_tag && !in_reference {
            out.push_str(&format!("&#{};", u32::from(c)));
        } else {
            out.push(c);
        }
        match c {
            '>' => in_tag = false,
            ';' => in_reference = false,
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_formulas_but_not_code() {
        let mut problems = Vec::new();
        let out = typeset("a $x_i * y_j$ and `$x$`\n\n```text\n$y$\n```\n", &mut problems);
        assert!(problems.is_empty(), "{problems:?}");
        assert!(out.contains("<math") && out.contains("<msub>"), "{out}");
        assert!(out.contains("`$x$`") && out.contains("\n$y$\n"), "{out}");
        assert!(!out.contains("*<"), "an asterisk of a formula would be read as emphasis: {out}");
    }

    #[test]
    fn keeps_spaces_and_large_brackets() {
        let mut problems = Vec::new();
        let out = typeset(r"$\bigl(1,\ 2\bigr)$", &mut problems);
        assert!(
            !out.contains("nbsp") && out.contains('\u{a0}') && out.contains("\" minsize="),
            "{out}"
        );
    }

    #[test]
    fn a_bad_formula_is_reported_with_its_line() {
        let mut problems = Vec::new();
        typeset("fine\n\nnot $\\frac{1}$ fine", &mut problems);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].0, 3);
    }
}
