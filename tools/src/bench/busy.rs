//! `cargo course bench busy`: measures decoding while other programs keep cores busy.

use std::{
    hint::spin_loop,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use anyhow::{Context, Result};
use clap::{Args, value_parser};

use super::{
    Model, Shape, commit, folders,
    peers::{self, Work},
    processor,
    week2::{
        engine::{Engine, Run},
        median,
    },
};
use crate::progress::Line;

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// GGUF file [default: SmolLM2-360M's shape in Q4_0, with random weights]
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Number of engine threads [default: one per core]
    #[arg(short = 'j', long, value_name = "N", value_parser = value_parser!(u16).range(2..))]
    threads: Option<u16>,
    /// Number of rounds (the median is reported)
    #[arg(long, value_name = "N", default_value = "5", value_parser = value_parser!(u16).range(1..))]
    rounds: u16,
    #[command(flatten)]
    peers: peers::Options,
}

/// A function that decodes with the given number of threads and returns tokens per second.
type Measure<'a> = Box<dyn Fn(u16) -> Result<f64> + 'a>;

/// Number of prompt tokens. After them, [`NEW`] tokens are decoded.
const AFTER: usize = 10;
const NEW: usize = 128;

/// Runs the engine with one thread and with many, while 0, 1 and 2 other threads of this process
/// are busy. Each round measures every combination once.
///
/// # Errors
/// If an engine cannot be built or fails.
pub(super) fn bench(root: &Path, options: &Options) -> Result<()> {
    let [folder, _] = folders(root, None)?;
    let reference = Engine::reference(root, &folder)?;
    let written;
    let model = match &options.model {
        Some(model) => model,
        None => {
            let shape = Shape { like: "smollm2-360m".to_owned(), file_type: "q4_0".to_owned() };
            written = Model::write(&reference, &folder, &shape)?;
            &written.0
        }
    };
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u16);
    let many = options.threads.unwrap_or(cores.max(2));
    let ours = |threads: u16| {
        let arguments = vec![format!("-j{threads}")];
        let run = Run { prompt: AFTER, new: NEW + 1, ..Run::new(model, arguments) };
        reference.measure(&run)?.decode_tokens_per_second.context("nothing was decoded")
    };
    let mut engines: Vec<(&str, Measure<'_>)> = vec![("ours", Box::new(ours))];
    let work = Work::Decode { after: AFTER, new: NEW };
    for peer in &options.peers.peers {
        let (_, repack) = peer.best(model, many, work)?;
        let rate = move |threads| peer.rate(model, threads, work, repack);
        engines.push((peer.name, Box::new(rate)));
    }

    println!(
        "Decoded tokens/s while other threads are busy, on {}; {}:\n",
        processor(),
        commit(root)
    );
    println!("{:<24} {:>8} {:>8} {:>8}", "", "idle", "1 busy", "2 busy");
    let mut line = Line::default();
    for (name, measure) in engines {
        let mut rates = [1, many].map(|threads| (threads, [const { Vec::new() }; 3]));
        for round in 1..=options.rounds {
            line.show(&format!("measuring: {name}, round {round} of {}", options.rounds));
            for busy in 0..3 {
                for (threads, of_busy) in &mut rates {
                    of_busy[busy].push(beside(busy, || measure(*threads))?);
                }
            }
        }
        line.clear();
        let [one, many] = rates.map(|(threads, of_busy)| {
            let medians = of_busy.map(|rates| median(rates.into_iter()));
            row(&format!("{name}, threads: {threads}"), medians.map(|rate| format!("{rate:.1}")));
            medians
        });
        let ratio = |busy: usize| format!("{:.2}", many[busy] / one[busy]);
        row("  many / one thread", [ratio(0), ratio(1), ratio(2)]);
    }
    print!("\n{}", peers::check(&reference, &options.peers.peers, model, many)?);
    Ok(())
}

fn row(name: &str, [idle, one, two]: [String; 3]) {
    println!("{name:<24} {idle:>8} {one:>8} {two:>8}");
}

/// Runs `action` while `busy` threads of this process spin.
fn beside<T>(busy: usize, action: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..busy {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    spin_loop();
                }
            });
        }
        let done = action();
        stop.store(true, Ordering::Relaxed);
        done
    })
}
