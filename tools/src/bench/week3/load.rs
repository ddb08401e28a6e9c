//! The loads that are measured, as files that `simulate --trace` reads; and the ways to serve them.

use std::{fmt::Write, fs, path::Path};

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Requests of the default load.
const REQUESTS: usize = 24;
/// Places in the cache.
pub(super) const PLACES: usize = 16;
/// Longest sequence of the embedded model's load.
pub(super) const CONTEXT: usize = 512;
/// Pages for it: half of what places of a whole context would be.
const PAGES: usize = 128;
/// Rows a step, where there is a budget.
const BUDGET: usize = 64;

/// Requests about stories: a beginning that all share, then one of their own; every sixth prompt is
/// long. All come at once.
pub(super) fn stories(root: &Path, file: &Path) -> Result<()> {
    let path = root.join("models/eval/stories.jsonl");
    let text =
        fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let stories = text
        .lines()
        .map(|line| {
            let story: Value = serde_json::from_str(line)?;
            story["text"].as_str().map(str::to_owned).context("a story has a text")
        })
        .collect::<Result<Vec<_>>>()
        .with_context(|| path.display().to_string())?;
    let shared = format!("{} {} ", stories[0], stories[1]);
    let mut lines = String::new();
    for i in 0..REQUESTS {
        let own = &stories[2 + i];
        let third = own.char_indices().nth(own.chars().count() / 3).map_or(0, |(at, _)| at);
        let long = if i % 6 == 5 { format!("{} ", stories[40 + i]) } else { String::new() };
        let prompt = format!("{shared}{long}{}", &own[..third]);
        let line = json!({ "prompt": prompt, "max_tokens": 24 + i * 7 % 41 });
        let _ = writeln!(lines, "{line}");
    }
    write(file, &lines)
}

/// So many requests at once, with prompts and answers of one length.
pub(super) fn alike(file: &Path, requests: usize, prompt: usize, new: usize) -> Result<()> {
    let line = json!({ "prompt_tokens": prompt, "max_tokens": new });
    write(file, &format!("{line}\n").repeat(requests))
}

/// Requests with short prompts, and one with a long prompt that comes while they are answered.
pub(super) fn interrupted(file: &Path, others: usize, new: usize, late: f64) -> Result<()> {
    let other = json!({ "prompt_tokens": 16, "max_tokens": new });
    let long = json!({ "time": late, "prompt_tokens": 1000, "max_tokens": 2 });
    write(file, &format!("{}{long}\n", format!("{other}\n").repeat(others)))
}

fn write(file: &Path, lines: &str) -> Result<()> {
    fs::write(file, lines).with_context(|| format!("{} cannot be written", file.display()))
}

/// A way to serve: its name, its options beside the load's, and what of the week it needs.
pub(super) struct Way {
    pub(super) name: &'static str,
    pub(super) arguments: Vec<String>,
}

/// One after the other, each with what the one before it has, if it is any good.
pub(super) fn ways(draft: &Path) -> Vec<Way> {
    let way = |name, options: &[&str]| Way {
        name,
        arguments: options.iter().map(|&word| word.to_owned()).collect(),
    };
    let places = PLACES.to_string();
    let (pages, budget, draft) = (PAGES.to_string(), BUDGET.to_string(), draft.to_string_lossy());
    let dense = ["--budget", "0", "--pages", "0", "--max-batch"];
    let chunked = ["--max-batch", &places, "--budget", &budget, "--pages"];
    let shared = [&pages[..], "--share-prefixes"];
    vec![
        way("one at a time", &[&dense[..], &["1"]].concat()),
        way("batches", &[&dense[..], &[&places[..], "--static-batches"]].concat()),
        way("continuous", &[&dense[..], &[&places[..]]].concat()),
        way("chunked prefill", &[&chunked[..], &["0"]].concat()),
        way("pages", &[&chunked[..], &[&pages[..]]].concat()),
        way("shared prefixes", &[&chunked[..], &shared[..]].concat()),
        way("drafts by lookup", &[&chunked[..], &shared[..], &["--draft", "lookup"]].concat()),
        way("drafts by a model", &[&chunked[..], &shared[..], &["--draft", &draft]].concat()),
        way("one, by a model", &[&dense[..], &["1", "--draft", &draft]].concat()),
    ]
}
