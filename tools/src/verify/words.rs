//! Checks spelling, and rejects phrases that readers had to read twice.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Result, ensure};

use super::context::{Outcome, Verification, succeeds};
use crate::files::list;

/// Rejected phrases, and what to say instead. `#` is a digit.
const PHRASES: [(&str, &str); 28] = [
    ("some #", "about"),
    ("so many, ", "the number itself, or `n`"),
    ("so much, ", "the amount itself"),
    ("by twos", "in pairs"),
    ("by fours", "in fours"),
    ("somebody", "someone, or what acts: the client, the thread"),
    ("is nobody's", "is ignored"),
    ("nobody's affair", "doesn't matter"),
    ("in the beginning", "at first"),
    ("is not said", "is unspecified"),
    ("is said of", "the message says"),
    ("has to keep to", "must obey"),
    ("stands once", "is written once"),
    ("stands on ", "needs, or is built on"),
    ("thousandths of a thousandth", "millionths"),
    ("way out that comes after", "every return path"),
    ("as they should not", "what is wrong with it"),
    ("further tokens", "more tokens"),
    ("in vain", "for nothing"),
    ("be in the right", "isn't an error"),
    ("all there is to", "the whole of"),
    ("who pays", "what acts, not a person"),
    ("who notices", "what acts, not a person"),
    ("any of its own", "its own, or none"),
    ("would rather", "prefers"),
    ("whatever is no", "a subject that acts"),
    ("comes in like", "arrives, or is computed"),
    ("is nothing but", "is only"),
];

/// File name extensions of chapters, help texts, messages and comments.
const READ: [&str; 8] = ["md", "rs", "py", "toml", "js", "html", "css", "yml"];

/// Runs `codespell` with the settings in pyproject.toml, if there is Python, and searches for the
/// phrases.
pub(super) fn words(v: &Verification) -> Result<Outcome> {
    let mut files = BTreeSet::new();
    list(&v.tree, Path::new(""), &mut files)?;
    files.retain(|path| {
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        READ.contains(&end) && !path.starts_with("target") && !path.ends_with("verify/words.rs")
    });
    let mut found = Vec::new();
    for path in &files {
        find(path, &fs::read_to_string(v.tree.join(path))?, &mut found);
    }
    ensure!(found.is_empty(), "phrases to replace: {}\n{}", found.len(), found.join("\n"));
    succeeds(v.python()?.args(["-m", "codespell_lib"]))?;
    Ok(Outcome::Passed(format!("{} files", files.len())))
}

fn find(path: &Path, text: &str, found: &mut Vec<String>) {
    for (i, line) in text.lines().enumerate() {
        let line = line.to_lowercase();
        let plain = line.replace(|c: char| c.is_ascii_digit(), "#");
        for (phrase, instead) in PHRASES {
            if plain.contains(phrase) {
                found.push(format!("{}:{}: \"{phrase}\": say {instead}", path.display(), i + 1));
            }
        }
    }
}
