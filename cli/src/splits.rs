//! `graph --splits`: the operations of each backend, one column per backend.

use std::fmt::Write;

/// How a graph is divided among backends.
#[derive(Debug, Clone)]
pub struct Divided {
    /// Backends, preferred one first.
    pub backends: Vec<Holds>,
    /// Splits in order of execution.
    pub splits: Vec<SplitSeen>,
}

/// A backend's name and the memory it uses.
#[derive(Debug, Clone)]
pub struct Holds {
    /// Name of the backend.
    pub name: String,
    /// Number of bytes of weights that the backend reads directly from the mapped file.
    pub in_place: usize,
    /// Number of bytes of weights copied to the backend's memory.
    pub copied: usize,
    /// Size of the backend's arena in bytes.
    pub arena: usize,
}

/// Consecutive nodes on one backend.
#[derive(Debug, Clone)]
pub struct SplitSeen {
    /// Index of the backend in [`Divided::backends`].
    pub backend: usize,
    /// Name and size in bytes of each tensor that is copied before the split runs.
    pub copies: Vec<(String, usize)>,
    /// The operation of each node, in order of execution.
    pub operations: Vec<&'static str>,
}

/// Width of a backend's column in characters.
const WIDTH: usize = 40;

/// Formats a divided graph as text, with one column per backend.
pub(super) fn shown(divided: &Divided) -> String {
    let Divided { backends, splits } = divided;
    let mut text = String::new();
    let in_column = |backend: usize, what: &str| format!("{:1$}{what}\n", "", backend * WIDTH);
    for (i, holds) in backends.iter().enumerate() {
        let space = if i + 1 < backends.len() { WIDTH } else { 0 };
        let _ = write!(text, "{:space$}", holds.name);
    }
    text.push('\n');
    for split in splits {
        if !split.copies.is_empty() {
            let bytes: usize = split.copies.iter().map(|(_, bytes)| bytes).sum();
            let names: Vec<&str> = split.copies.iter().map(|(name, _)| name.as_str()).collect();
            let (arrow, names) = (if split.backend == 0 { "<─" } else { "─>" }, names.join(" · "));
            let _ = writeln!(text, "    {arrow} {bytes} bytes: {names}");
        }
        for line in wrapped(&counted(&split.operations)) {
            text += &in_column(split.backend, &line);
        }
    }
    let (copies, bytes) = splits
        .iter()
        .flat_map(|split| &split.copies)
        .fold((0, 0), |(n, all), (_, bytes)| (n + 1, all + bytes));
    let s = |n: usize| if n == 1 { "" } else { "s" };
    let n = splits.len();
    let copy = if copies == 1 { "copy" } else { "copies" };
    let _ = writeln!(text, "{n} split{}; {copies} {copy}, {bytes} bytes per pass", s(n));
    for Holds { name, in_place, copied, arena } in backends {
        let _ = writeln!(
            text,
            "{name}: {in_place} bytes of weights in place, {copied} bytes copied; an arena of \
             {arena} bytes"
        );
    }
    text.pop();
    text
}

/// Replaces each run of equal operations with one entry and a count, such as `2 rope`.
fn counted(operations: &[&str]) -> Vec<String> {
    let runs = operations.chunk_by(|a, b| a == b);
    runs.map(|run| match run.len() {
        1 => run[0].to_owned(),
        n => format!("{n} {}", run[0]),
    })
    .collect()
}

/// Joins words with commas, in lines that fit into a column.
fn wrapped(words: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() + 4 < WIDTH => {
                *line += ", ";
                *line += word;
            }
            _ => lines.push(word.clone()),
        }
    }
    lines
}
