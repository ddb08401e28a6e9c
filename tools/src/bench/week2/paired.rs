//! The finished engine against others on the same files, in alternating runs: whatever else this
//! machine does meets both.

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
#[group(id = "paired")]
pub(super) struct Options {
    /// Instead, compare the reference with llama.cpp on every GGUF file in this folder
    #[arg(long, value_name = "FOLDER")]
    peers: Option<PathBuf>,
    /// Also compare with this program (same options and JSON output as `llm bench`)
    #[arg(long, value_name = "NAME=PROGRAM", value_parser = Peer::other, requires = "peers")]
    peer: Vec<Peer>,
    /// Numbers of threads to run each program with
    #[arg(
        long,
        value_name = "N,N",
        value_delimiter = ',',
        default_value = "1,2",
        requires = "peers"
    )]
    peer_threads: Vec<u16>,
    /// Number of alternating runs of each pair
    #[arg(long, value_name = "N", default_value = "5", value_parser = value_parser!(u16).range(1..), requires = "peers")]
    pairs: u16,
    /// Run only tasks whose names contain TEXT
    #[arg(long, value_name = "TEXT", requires = "peers")]
    task: Option<String>,
}

impl Options {
    /// Whether a comparison was asked for.
    pub(super) fn wanted(&self) -> bool {
        self.peers.is_some()
    }
}

/// What both are given, and what is compared of it.
struct Work {
    prompt: usize,
    new: usize,
    /// Which of its settings a peer is given.
    settings: Settings,
    tasks: &'static [Task],
}

/// Settings that suit prefill or decoding best; or its defaults, where waiting and memory count.
#[derive(Debug, Clone, Copy)]
enum Settings {
    Prefill,
    Decode,
    Default,
}

/// One thing to be compared.
struct Task {
    name: &'static str,
    value: fn(&Measured) -> Option<f64>,
    /// Tokens a second are better if there are more of them, seconds and bytes if there are fewer.
    more_is_better: bool,
}

const WORK: [Work; 5] = [
    Work {
        prompt: 512,
        new: 1,
        settings: Settings::Prefill,
        tasks: &[Task {
            name: "prefill 512, tokens/s",
            value: |m| Some(m.prefill_tokens_per_second),
            more_is_better: true,
        }],
    },
    // With the token that follows, as many as the smaller models' contexts of 2,048 hold.
    Work {
        prompt: 2047,
        new: 1,
        settings: Settings::Prefill,
        tasks: &[Task {
            name: "prefill 2047, tokens/s",
            value: |m| Some(m.prefill_tokens_per_second),
            more_is_better: true,
        }],
    },
    Work {
        prompt: 10,
        new: 129,
        settings: Settings::Decode,
        tasks: &[Task {
            name: "decode 128 after 10, tokens/s",
            value: |m| m.decode_tokens_per_second,
            more_is_better: true,
        }],
    },
    Work {
        prompt: 1000,
        new: 33,
        settings: Settings::Decode,
        tasks: &[Task {
            name: "decode 32 after 1000, tokens/s",
            value: |m| m.decode_tokens_per_second,
            more_is_better: true,
        }],
    },
    Work {
        prompt: 10,
        new: 1,
        settings: Settings::Default,
        tasks: &[
            // An interpreter's start is not llama.cpp's.
            Task {
                name: "start to first token, s",
                value: |m| Some(m.first_token_seconds.unwrap_or(m.process_seconds)),
                more_is_better: false,
            },
            Task {
                name: "memory of its own, MB",
                value: |m| m.memory.map(|memory| memory.own / 1e6),
                more_is_better: false,
            },
        ],
    },
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
    /// Medians, and their quotient.
    ours: f64,
    theirs: f64,
    ratio: f64,
    /// Of every pair, how many times as good we are; above 1 we are better.
    ratios: Vec<f64>,
}

/// Compares, prints each line as it is done, and writes `peers.json` into `folder`.
pub(super) fn run(
    reference: &Engine,
    llama_cpp: Option<Peer>,
    options: &Options,
    folder: &Path,
) -> Result<()> {
    let models = models(options.peers.as_deref().context("there is no folder of files")?)?;
    let peers: Vec<Peer> = llama_cpp.into_iter().chain(options.peer.iter().cloned()).collect();
    ensure!(
        !peers.is_empty(),
        "there is nothing to compare with: `pip install '.[peers]'` into .venv, or name another \
         --python, or a --peer"
    );
    println!(
        "| file | threads | task | ours | peer | its figure | settings | ratio, worst–best pair |\n\
         |---|---|---|---|---|---|---|---|"
    );
    let mut all = Vec::new();
    for (model, &threads) in models
        .iter()
        .flat_map(|model| options.peer_threads.iter().map(move |threads| (model, threads)))
    {
        for peer in &peers {
            let pair =
                Pair { reference, peer, model, threads, best: peer.best_settings(model, threads)? };
            for work in &WORK {
                let wanted = |task: &&Task| {
                    options.task.as_ref().is_none_or(|text| task.name.contains(text.as_str()))
                };
                let tasks: Vec<&Task> = work.tasks.iter().filter(wanted).collect();
                for compared in pair.compare(work, &tasks, options.pairs)? {
                    println!("{}", compared.line());
                    all.push(compared);
                }
            }
        }
    }
    let path = folder.join("peers.json");
    fs::write(&path, format!("{:#}\n", json!(all)))
        .with_context(|| format!("{} cannot be written", path.display()))?;
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
    ensure!(
        !models.is_empty(),
        "{}: found no GGUF file, expected one at least; `synth` writes some",
        folder.display()
    );
    models.sort();
    Ok(models)
}

/// Who is compared, and on what.
struct Pair<'a> {
    reference: &'a Engine,
    peer: &'a Peer,
    model: &'a Path,
    threads: u16,
    /// The peer's settings for prefill and for decoding, if it has any, and what else it said.
    best: Option<(String, String, Measured)>,
}

impl Pair<'_> {
    fn compare(&self, work: &Work, tasks: &[&Task], pairs: u16) -> Result<Vec<Compared>> {
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        let context = CONTEXT.max(work.prompt + work.new);
        let arguments = vec![format!("-j{}", self.threads), format!("-c{context}")];
        let ours = Run { prompt: work.prompt, new: work.new, ..Run::new(self.model, arguments) };
        let mut theirs = ours.clone();
        let settings = self.best.as_ref().map_or("", |(prefill, decode, _)| match work.settings {
            Settings::Prefill => prefill,
            Settings::Decode => decode,
            Settings::Default => "default",
        });
        // Its defaults lay weights out anew.
        let laid_out = if settings == "default" { "repack" } else { settings };
        let units = self.best.as_ref().is_some_and(|(.., said)| said.has_matrix_units(laid_out));
        let peer = format!("{}{}", self.peer.name, if units { " with matrix units" } else { "" });
        theirs.arguments.extend((!settings.is_empty()).then(|| format!("--settings={settings}")));

        let file = self.model.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut line = Line::default();
        let mut measured = Vec::new();
        // The first pair brings the file into memory and is not counted.
        for pair in 0..=pairs {
            line.show(&format!(
                "{file}, {} threads, {}: pair {pair} of {pairs}",
                self.threads, tasks[0].name
            ));
            // Each goes first in turn.
            let both = if pair % 2 == 0 {
                let ours = self.reference.measure(&ours)?;
                (ours, self.peer.measure(&theirs)?)
            } else {
                let theirs = self.peer.measure(&theirs)?;
                (self.reference.measure(&ours)?, theirs)
            };
            measured.extend((pair > 0).then_some(both));
        }
        line.clear();
        let compared = |task: &&Task| {
            let value = |m: &Measured| {
                (task.value)(m).with_context(|| format!("{}: not measured", task.name))
            };
            let pairs = measured
                .iter()
                .map(|(ours, theirs)| Ok((value(ours)?, value(theirs)?)))
                .collect::<Result<Vec<_>>>()?;
            let ratios: Vec<f64> = pairs
                .iter()
                .map(|(a, b)| if task.more_is_better { a / b } else { b / a })
                .collect();
            let ours = median(pairs.iter().map(|(a, _)| *a));
            let theirs = median(pairs.iter().map(|(_, b)| *b));
            Ok(Compared {
                file: file.clone(),
                threads: self.threads,
                task: task.name,
                peer: peer.clone(),
                settings: settings.to_owned(),
                ours,
                theirs,
                ratio: if task.more_is_better { ours / theirs } else { theirs / ours },
                ratios,
                pairs,
            })
        };
        tasks.iter().map(compared).collect()
    }
}

impl Compared {
    fn line(&self) -> String {
        let Self { file, threads, task, peer, settings, .. } = self;
        let worst = self.ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let best = self.ratios.iter().copied().fold(0.0, f64::max);
        format!(
            "| {file} | {threads} | {task} | {} | {peer} | {} | {settings} | **{:.2}**, \
             {worst:.2}–{best:.2} |",
            rate(Some(self.ours)),
            rate(Some(self.theirs)),
            self.ratio
        )
    }
}

/// Of at least one value; the mean of the two in the middle if their number is even.
pub(in crate::bench) fn median(values: impl Iterator<Item = f64>) -> f64 {
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
        assert_eq!(
            [median([3.0, 1.0, 2.0].into_iter()), median([4.0, 1.0, 2.0, 9.0].into_iter())],
            [2.0, 3.0]
        );
    }
}
