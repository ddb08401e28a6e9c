//! Writes loads as files for `simulate --trace`, and lists the configurations that serve them.

use std::{fmt::Write, fs, path::Path};

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Number of requests in the default load.
const REQUESTS: usize = 24;
/// Number of batch slots.
pub(super) const PLACES: usize = 16;
/// Length of the longest sequence in the embedded model's load.
pub(super) const CONTEXT: usize = 512;
/// Number of pages in the cache: half of what whole contexts in all slots would need.
const PAGES: usize = 128;
/// Maximum number of rows per step, in configurations with a budget.
const BUDGET: usize = 64;

/// Returns stories that no model was trained on.
fn all_stories(root: &Path) -> Result<Vec<String>> {
    let path = root.join("models/eval/stories.jsonl");
    let text =
        fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let story = |line| {
        let story: Value = serde_json::from_str(line)?;
        story["text"].as_str().map(str::to_owned).context("a story has no `text`")
    };
    text.lines().map(story).collect::<Result<_>>().with_context(|| path.display().to_string())
}

/// Returns the first of `parts` equal parts of a story.
fn part(story: &str, parts: usize) -> &str {
    let end = story.char_indices().nth(story.chars().count() / parts);
    &story[..end.map_or(0, |(at, _)| at)]
}

/// Writes requests about stories. Each prompt is a common prefix followed by its own text. Every
/// sixth prompt is long. All requests arrive at once.
pub(super) fn stories(root: &Path, file: &Path) -> Result<()> {
    let stories = all_stories(root)?;
    let shared = format!("{} {} ", stories[0], stories[1]);
    let mut lines = String::new();
    for i in 0..REQUESTS {
        let long = if i % 6 == 5 { format!("{} ", stories[40 + i]) } else { String::new() };
        let prompt = format!("{shared}{long}{}", part(&stories[2 + i], 3));
        let line = json!({ "prompt": prompt, "max_tokens": 24 + i * 7 % 41 });
        let _ = writeln!(lines, "{line}");
    }
    write(file, &lines)
}

/// Writes requests to continue stories from their beginnings.
pub(super) fn told(root: &Path, file: &Path) -> Result<()> {
    let stories = all_stories(root)?;
    let line = |story: &String| json!({ "prompt": part(story, 4), "max_tokens": 100 });
    let lines: Vec<String> = stories[..8].iter().map(|story| line(story).to_string()).collect();
    write(file, &lines.join("\n"))
}

/// Writes requests with texts that have begun to repeat themselves.
pub(super) fn repeated(root: &Path, file: &Path) -> Result<()> {
    let stories = all_stories(root)?;
    let line = |story: &String| {
        let sentence = story.split_inclusive('.').nth(1).unwrap_or(story);
        json!({ "prompt": sentence.repeat(6).trim(), "max_tokens": 100 })
    };
    let lines: Vec<String> = stories[..8].iter().map(|story| line(story).to_string()).collect();
    write(file, &lines.join("\n"))
}

/// Writes equal requests that arrive at once, with `prompt` prompt tokens and `new` new ones each.
pub(super) fn alike(file: &Path, requests: usize, prompt: usize, new: usize) -> Result<()> {
    let line = json!({ "prompt_tokens": prompt, "max_tokens": new });
    write(file, &format!("{line}\n").repeat(requests))
}

/// Writes `others` requests with short prompts, and one with a long prompt that arrives `late`
/// seconds after them.
pub(super) fn interrupted(file: &Path, others: usize, new: usize, late: f64) -> Result<()> {
    let other = json!({ "prompt_tokens": 16, "max_tokens": new });
    let long = json!({ "time": late, "prompt_tokens": 1000, "max_tokens": 2 });
    write(file, &format!("{}{long}\n", format!("{other}\n").repeat(others)))
}

fn write(file: &Path, lines: &str) -> Result<()> {
    fs::write(file, lines).with_context(|| format!("{} cannot be written", file.display()))
}

/// A configuration that serves a load: its name, and its options in addition to the load's.
pub(super) struct Way {
    pub(super) name: &'static str,
    pub(super) arguments: Vec<String>,
}

/// Returns the configurations to measure. Each keeps the useful options of the previous one.
/// `draft` is the path of the draft model.
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
    ]
}
