//! The changes that a wrong body makes to its region of the reference.

use std::ops::Range;

use anyhow::{Context, Result, bail, ensure};

use super::tokens::tokens;

/// A change to a marked region of the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// New code for the whole region.
    Whole(String),
    /// New code for parts of the region.
    Pieces(Vec<Piece>),
}

/// Code that occurs once in the region, and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    replace: String,
    with: String,
}

/// The code of a marked region of the reference, and the places of its tokens.
#[derive(Debug)]
pub(crate) struct Region {
    code: String,
    tokens: Vec<Range<usize>>,
}

impl Region {
    pub(crate) fn new(code: String) -> Result<Self> {
        let tokens = tokens(&code)?;
        Ok(Self { code, tokens })
    }
}

impl Change {
    /// Parses the code lines of an entry. A line `replace → with` is one replacement. Other lines
    /// are a diff, in which each begins with `-`, `+` or neither, and `...` separates two places.
    /// If all lines begin with `+`, they are the whole body.
    ///
    /// # Errors
    /// If there are no lines, or some lines with `+` have no line next to them that shows their
    /// position.
    pub(crate) fn parse(lines: &[&str]) -> Result<Self> {
        let (mut pieces, mut lines) = (Vec::new(), lines.iter().peekable());
        let mut whole = None;
        while let Some(line) = lines.next() {
            if let Some((replace, with)) = arrow(line) {
                pieces.push(Piece {
                    replace: replace.trim().to_owned(),
                    with: with.trim().to_owned(),
                });
                continue;
            }
            let (mut block, mut line) = (Vec::new(), *line);
            while line.trim() != "..." {
                block.push(line);
                match lines.peek() {
                    Some(next) if arrow(next).is_none() => {
                        line = lines.next().copied().unwrap_or_default();
                    }
                    _ => break,
                }
            }
            let side = |without: char| {
                let kept = block
                    .iter()
                    .filter(|line| mark(line) != without)
                    .map(|line| line.get(4..).unwrap_or_default());
                kept.collect::<Vec<_>>().join("\n")
            };
            if block.is_empty() {
                continue;
            }
            if block.iter().all(|line| mark(line) == '+') {
                whole = Some(side('-'));
            } else {
                pieces.push(Piece { replace: side('+'), with: side('-') });
            }
        }
        match (whole, pieces.is_empty()) {
            (None, true) => bail!("the entry changes nothing"),
            (None, false) => Ok(Self::Pieces(pieces)),
            (Some(body), true) => Ok(Self::Whole(body)),
            (Some(added), false) => bail!(
                "nothing says where these lines belong; put a line of the reference before or \
                 after them\n\
                 {added}"
            ),
        }
    }

    /// Applies this change to `region`, and returns the changed body.
    ///
    /// # Errors
    /// If a piece does not occur in `region` exactly once, or two pieces overlap.
    pub(crate) fn apply(&self, region: &Region) -> Result<String> {
        let pieces = match self {
            Self::Whole(body) => return Ok(body.clone()),
            Self::Pieces(pieces) => pieces,
        };
        let mut places: Vec<(Range<usize>, &str)> = Vec::new();
        for piece in pieces {
            let place = only_place(region, &piece.replace).with_context(|| {
                format!(
                    "the reference has changed here: rewrite this entry for the region, which is \
                     now\n\
                     {}\n",
                    region.code
                )
            })?;
            places.push((place, &piece.with));
        }
        let region = &region.code;
        places.sort_by_key(|(place, _)| place.start);
        let (mut body, mut end) = (String::new(), 0);
        for (place, with) in places {
            ensure!(end <= place.start, "two pieces of this entry overlap at `{}`", &region[place]);
            body += &region[end..place.start];
            body += with;
            // A comment at the end must not comment out the code after it.
            body.push('\n');
            end = place.end;
        }
        Ok(body + &region[end..])
    }
}

fn arrow(line: &str) -> Option<(&str, &str)> {
    line.split_once(" → ").or_else(|| Some((line.strip_suffix(" →")?, "")))
}

fn mark(line: &str) -> char {
    line.chars().nth(3).unwrap_or(' ')
}

/// Returns the byte range of `code` in `region`, where it must occur exactly once. Formatting may
/// differ.
fn only_place(Region { code: region, tokens: all }: &Region, code: &str) -> Result<Range<usize>> {
    let mut wanted = tokens(code)?;
    let find = |wanted: &[Range<usize>]| -> Vec<usize> {
        let starts = 0..(all.len() + 1).saturating_sub(wanted.len());
        let same = |at: usize| {
            all[at..].iter().zip(wanted).all(|(a, b)| region[a.clone()] == code[b.clone()])
        };
        starts.filter(|&at| same(at)).collect()
    };
    ensure!(!wanted.is_empty(), "a part of this entry has no code to replace");
    let mut found = find(&wanted);
    let mut comma = 0;
    if found.is_empty() && wanted.len() > 1 && code.ends_with(',') {
        // Skip the last comma before a bracket, which [`tokens`] omits from the region.
        wanted.pop();
        found = find(&wanted);
        comma = 1;
    }
    let [at] = found[..] else {
        bail!("found `{code}` {} times in the reference's region, expected once", found.len());
    };
    let end = all[at + wanted.len() - 1].end;
    let behind = region[end..].trim_start();
    let with_comma = region.len() - behind.len() + 1;
    let end = if comma > 0 && behind.starts_with(',') { with_comma } else { end };
    Ok(all[at].start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGION: &str = "let a = one(\n    x, // the first\n    y,\n);\nlet b = two(x);\na + b";

    fn applied(lines: &[&str]) -> Result<String> {
        Change::parse(lines)?.apply(&Region::new(REGION.to_owned())?)
    }

    fn same(lines: &[&str], expected: &str) {
        let body = applied(lines).unwrap();
        let of = |text: &str| {
            let places = tokens(text).unwrap().into_iter();
            places.map(|place| text[place].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of(&body), of(expected), "{body}");
    }

    #[test]
    fn apply_ignores_formatting() {
        same(
            &["    one(x, y) → one(y, x)", "    a + b → a - b"],
            "let a = one(y, x); let b = two(x); a - b",
        );
        same(&["    let b = two(x); →", "    a + b → a"], "let a = one(x, y); a");
        same(&["    y, →"], "let a = one(x,); let b = two(x); a + b");
    }

    #[test]
    fn parse_accepts_a_diff() {
        let lines =
            ["    let b = two(x);", "   -a + b", "   +// The comment stays.", "   +a * b // so"];
        same(&lines, "let a = one(x, y); let b = two(x); a * b");
        same(&["   -let a = one(x, y);", "    ...", "   -a + b", "   +b"], "let b = two(x); b");
        same(&["   +0 +", "   +1"], "0 + 1");
    }

    #[test]
    fn rejects_malformed_changes() {
        let error = |lines: &[&str]| format!("{:#}", applied(lines).unwrap_err());
        let text = error(&["    three(x) → x"]);
        assert!(
            text.contains("found `three(x)` 0 times")
                && text.contains(REGION)
                && text.contains("changed"),
            "{text}"
        );
        let text = error(&["    let → const"]);
        assert!(text.contains("found `let` 2 times in the reference's region"), "{text}");
        assert!(
            error(&["    let b = two(x); → x", "    two(x) → x"]).contains("overlap at `two(x)`")
        );
        assert!(error(&["    a + b → b", "   +x"]).contains("nothing says where these lines"));
        assert_eq!(error(&[]), "the entry changes nothing");
    }
}
