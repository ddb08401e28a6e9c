//! Compares the finished engine with others on the same files, in alternating runs, so that other
//! load on this machine affects all equally.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use clap::{Args, value_parser};
use serde::Serialize;
use serde_json::json;

use super::{
    engine::{Engine, Run, median},
    table::rate,
};
use crate::{
    bench::peers::{self, Peer, Rates, Work},
    progress::Line,
};

/// What is compared.
#[derive(Debug, Args)]
#[group(id = "paired")]
pub(super) struct Options {
    /// Only compare the reference with --llama-bin, on every GGUF file in this folder
    #[arg(long, value_name = "FOLDER", requires = "llama_bin")]
    peers: Option<PathBuf>,
    /// Numbers of threads to measure each program with
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
    /// Returns whether a comparison was requested.
    pub(super) fn wanted(&self) -> bool {
        self.peers.is_some()
    }
}

const WORK: [(&str, Work); 4] = [
    ("prefill 512", Work::Prefill(512)),
    // Together with the next token, these fill the smaller models' contexts of 2,048 tokens.
    ("prefill 2047", Work::Prefill(2047)),
    ("decode 128 after 10", Work::Decode { after: 10, new: 128 }),
    ("decode 32 after 1000", Work::Decode { after: 1000, new: 32 }),
];

/// One line of the results, in tokens per second.
#[derive(Debug, Serialize)]
struct Compared {
    file: String,
    threads: u16,
    task: &'static str,
    peer: &'static str,
    /// Our layout of the weights, and the peer's.
    layouts: [&'static str; 2],
    /// Results of every pair: ours, the peer's.
    pairs: Vec<(f64, f64)>,
}

/// Compares the reference with each peer. Prints each line as soon as it is known, and writes
/// `peers.json` to `folder`.
pub(super) fn run(
    reference: &Engine,
    peers: &[Peer],
    options: &Options,
    folder: &Path,
) -> Result<()> {
    let models =
        models(options.peers.as_deref().context("--peers: expected a folder of GGUF files")?)?;
    println!(
        "| file | threads | task | our tokens/s | peer | its tokens/s | weight layouts \
         | ratio, worst–best pair |\n\
         |---|---|---|---|---|---|---|---|"
    );
    let (mut all, mut notes) = (Vec::new(), String::new());
    for (model, &threads) in models
        .iter()
        .flat_map(|model| options.peer_threads.iter().map(move |threads| (model, threads)))
    {
        let file = model.file_name().unwrap_or_default().to_string_lossy();
        let wanted =
            |task: &str| options.task.as_ref().is_none_or(|text| task.contains(text.as_str()));
        for (task, work) in WORK.into_iter().filter(|(task, _)| wanted(task)) {
            let (ours, theirs) = measure(reference, peers, model, threads, work, options.pairs)?;
            let (ours, our_layout) = ours.best();
            for (peer, theirs) in peers.iter().zip(theirs) {
                let (rates, layout) = theirs.best();
                let pairs = ours.iter().copied().zip(rates.iter().copied()).collect();
                let file = file.clone().into_owned();
                let layouts = [our_layout, layout];
                let compared = Compared { file, threads, task, peer: peer.name, layouts, pairs };
                println!("{}", compared.line());
                all.push(compared);
            }
        }
        let checked = peers::check(reference, peers, model, threads)?;
        notes.extend(checked.lines().map(|line| format!("{file}, {threads} threads: {line}\n")));
    }
    print!("\n{notes}");
    let path = folder.join("peers.json");
    fs::write(&path, format!("{:#}\n", json!(all)))
        .with_context(|| format!("{} cannot be written", path.display()))?;
    println!("\nwritten: {}", path.display());
    Ok(())
}

/// Measures one task in rounds. Every engine runs with both layouts of weights. Our engine runs
/// first in one round and last in the next.
fn measure(
    reference: &Engine,
    peers: &[Peer],
    model: &Path,
    threads: u16,
    work: Work,
    pairs: u16,
) -> Result<(Rates, Vec<Rates>)> {
    let (prompt, new) = match work {
        Work::Prefill(tokens) => (tokens, 1),
        Work::Decode { after, new } => (after, new + 1),
    };
    let run = |repack: bool| {
        let mut arguments = vec![format!("-j{threads}")];
        arguments.extend(repack.then(|| "--repack".to_owned()));
        Run { prompt, new, ..Run::new(model, arguments) }
    };
    let (mut ours, mut theirs) = (Rates::default(), vec![Rates::default(); peers.len()]);
    let mut line = Line::default();
    // The first run loads the file into memory and is not counted.
    reference.measure(&run(false))?;
    for pair in 0..pairs {
        line.show(&format!("{}, {work:?}: round {} of {pairs}", model.display(), pair + 1));
        let mut own = || {
            ours.round(|repack| {
                let measured = reference.measure(&run(repack))?;
                match work {
                    Work::Prefill(_) => Ok(measured.prefill_tokens_per_second),
                    Work::Decode { .. } => {
                        measured.decode_tokens_per_second.context("nothing was decoded")
                    }
                }
            })
        };
        if pair % 2 == 0 {
            own()?;
        }
        for (peer, rates) in peers.iter().zip(&mut theirs) {
            rates.round(|repack| peer.rate(model, threads, work, repack))?;
        }
        if pair % 2 == 1 {
            own()?;
        }
    }
    line.clear();
    Ok((ours, theirs))
}

/// Returns every GGUF file of the folder, sorted by name.
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
        "{}: found no GGUF file, expected at least one; `cargo llm synth` writes one",
        folder.display()
    );
    models.sort();
    Ok(models)
}

impl Compared {
    fn line(&self) -> String {
        let Self { file, threads, task, peer, layouts: [ours_in, theirs_in], pairs } = self;
        let (ours, theirs) = (median(pairs.iter().map(|p| p.0)), median(pairs.iter().map(|p| p.1)));
        let ratios = pairs.iter().map(|(ours, theirs)| ours / theirs);
        let worst = ratios.clone().fold(f64::INFINITY, f64::min);
        let best = ratios.fold(0.0, f64::max);
        format!(
            "| {file} | {threads} | {task} | {} | {peer} | {} | {ours_in} / {theirs_in} | **{:.2}**, {worst:.2}–{best:.2} |",
            rate(Some(ours)),
            rate(Some(theirs)),
            ours / theirs
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_an_even_number_is_the_mean_of_two() {
        assert_eq!(
            [median([3.0, 1.0, 2.0].into_iter()), median([4.0, 1.0, 2.0, 9.0].into_iter())],
            [2.0, 3.0]
        );
    }
}
