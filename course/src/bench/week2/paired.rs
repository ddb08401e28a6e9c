//! The finished engine against others on the same files, in alternating runs: whatever else this machine does meets both.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use clap::{Args, value_parser};
use serde::Serialize;
use serde_json::json;

use super::{
    engine::{Engine, Measured, Peer, Run},
    table::rate,
};
use crate::progress::Line;

/// What is compared.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Compare the finished reference with llama.cpp instead, on every GGUF file of this folder, in alternating runs
    #[arg(long, value_name = "FOLDER")]
    peers: Option<PathBuf>,
    /// And with this program, which takes MODEL -j N -c N --prompt-tokens N -n N --repeat N and prints the JSON that ours prints
    #[arg(long, value_name = "NAME=PROGRAM", value_parser = Peer::other, requires = "peers")]
    peer: Vec<Peer>,
    /// Numbers of threads to compare with
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "1,2", requires = "peers")]
    peer_threads: Vec<u16>,
    /// How often each pair is run
    #[arg(long, value_name = "N", default_value = "5", value_parser = value_parser!(u16).range(1..), requires = "peers")]
    pairs: u16,
    /// Only tasks whose names contain this
    #[arg(long, value_name = "TEXT", requires = "peers")]
    task: Option<String>,
}

impl Options {
    /// Whether a comparison was asked for.
    pub(super) fn wanted(&self) -> bool {
        self.peers.is_some()
    }
}

/// One thing to be compared.
struct Task {
    name: &'static str,
    prompt: usize,
    new: usize,
    value: fn(&Measured) -> Option<f64>,
    /// Tokens a second are better if there are more of them, seconds and bytes if there are fewer.
    more_is_better: bool,
}

const TASKS: [Task; 5] = [
    Task { name: "prefill 512, tokens/s", prompt: 512, new: 1, value: |m| Some(m.prefill_tokens_per_second), more_is_better: true },
    Task { name: "decode 128 after 10, tokens/s", prompt: 10, new: 129, value: |m| m.decode_tokens_per_second, more_is_better: true },
    Task { name: "decode after 1000, tokens/s", prompt: 1000, new: 33, value: |m| m.decode_tokens_per_second, more_is_better: true },
    Task {
        name: "start to first token, s",
        prompt: 10,
        new: 1,
        // An interpreter's start is not llama.cpp's.
        value: |m| Some(m.first_token_seconds.unwrap_or(m.process_seconds)),
        more_is_better: false,
    },
    Task { name: "memory of its own, MB", prompt: 10, new: 1, value: |m| m.memory.map(|memory| memory.own / 1e6), more_is_better: false },
];

/// Positions of the cache where a task fits into it.
const CONTEXT: usize = 512;

/// One line of the result.
#[derive(Debug, Serialize)]
struct Compared {
    file: String,
    threads: u16,
    task: &'static str,
    peer: String,
    /// The peer's settings.
    settings: String,
    /// Of every pair: ours, the peer's.
    pairs: Vec<(f64, f64)>,
    ours: f64,
    theirs: f64,
    /// Of every pair, how many times as good we are; above 1 we are better.
    ratios: Vec<f64>,
    ratio: f64,
}

/// Compares, prints each line as it is done, and writes `peers.json` into `folder`.
pub(super) fn run(reference: &Engine, llama_cpp: Option<Peer>, options: &Options, folder: &Path) -> Result<()> {
    let models = models(options.peers.as_deref().context("there is no folder of files")?)?;
    let peers: Vec<Peer> = llama_cpp.into_iter().chain(options.peer.iter().cloned()).collect();
    ensure!(
        !peers.is_empty(),
        "there is nothing to compare with: `pip install '.[peers]'` into .venv, or name another --python, or a --peer"
    );
    println!("| file | threads | task | ours | peer | its figure | settings | ratio, worst–best pair |\n|---|---|---|---|---|---|---|---|");
    let mut all = Vec::new();
    for model in &models {
        for &threads in &options.peer_threads {
            for task in TASKS.iter().filter(|task| options.task.as_ref().is_none_or(|text| task.name.contains(text.as_str()))) {
                for peer in &peers {
                    let compared = compare(reference, peer, options.pairs, (model, threads, task))?;
                    println!("{}", compared.line());
                    all.push(compared);
                }
            }
        }
    }
    let path = folder.join("peers.json");
    fs::write(&path, format!("{:#}\n", json!(all))).with_context(|| format!("{} cannot be written", path.display()))?;
    println!("\nwritten: {}", path.display());
    Ok(())
}

/// Every GGUF file of the folder, by name.
fn models(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = || format!("{}: cannot be read", folder.display());
    let mut models = Vec::new();
    for entry in fs::read_dir(folder).with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "gguf") {
            models.push(path);
        }
    }
    ensure!(!models.is_empty(), "{}: found no GGUF file, expected one at least; `synth` writes some", folder.display());
    models.sort();
    Ok(models)
}

fn compare(reference: &Engine, peer: &Peer, pairs: u16, (model, threads, task): (&Path, u16, &Task)) -> Result<Compared> {
    let mut line = Line::new();
    let file = model.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut show = |what: &str| line.show(&format!("{file}, {threads} threads, {}: {what}", task.name));
    let context = CONTEXT.max(task.prompt + task.new);
    let arguments = vec![format!("-j{threads}"), format!("-c{context}")];
    let ours = Run { prompt: task.prompt, new: task.new, ..Run::new(model, arguments) };

    // The peer's best settings, found before the pairs; this also brings the file into memory.
    let mut theirs = ours.clone();
    let mut settings = String::new();
    if peer.has_settings {
        show("settings");
        settings = if task.more_is_better { peer.best_settings(&theirs, task.new > 1)? } else { "default".to_owned() };
        theirs.arguments.push(format!("--settings={settings}"));
    }
    let value = |measured: &Measured| (task.value)(measured).with_context(|| format!("{}: not measured", task.name));
    let mut measured = Vec::new();
    // The first pair is not counted: whoever comes first would find the file as the settings' runs left it.
    for pair in 0..=pairs {
        show(&format!("pair {pair} of {pairs}"));
        let (a, b) = if pair % 2 == 0 {
            let a = reference.measure(&ours)?;
            (a, peer.measure(&theirs)?)
        } else {
            let b = peer.measure(&theirs)?;
            (reference.measure(&ours)?, b)
        };
        if pair > 0 {
            measured.push((value(&a)?, value(&b)?));
        }
    }
    line.clear();
    let better = |(a, b): &(f64, f64)| if task.more_is_better { a / b } else { b / a };
    let ratios: Vec<f64> = measured.iter().map(better).collect();
    Ok(Compared {
        file,
        threads,
        task: task.name,
        peer: peer.name.clone(),
        settings,
        ours: median(measured.iter().map(|(a, _)| *a)),
        theirs: median(measured.iter().map(|(_, b)| *b)),
        ratio: median(ratios.iter().copied()),
        ratios,
        pairs: measured,
    })
}

impl Compared {
    fn line(&self) -> String {
        let Self { file, threads, task, peer, settings, .. } = self;
        let worst = self.ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let best = self.ratios.iter().copied().fold(0.0, f64::max);
        format!(
            "| {file} | {threads} | {task} | {} | {peer} | {} | {settings} | **{:.2}**, {worst:.2}–{best:.2} |",
            rate(Some(self.ours)),
            rate(Some(self.theirs)),
            self.ratio
        )
    }
}

/// Of at least one value; the mean of the two in the middle if their number is even.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { 0.5 * (values[middle - 1] + values[middle]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!([median([3.0, 1.0, 2.0].into_iter()), median([4.0, 1.0, 2.0, 9.0].into_iter())], [2.0, 3.0]);
    }
}
