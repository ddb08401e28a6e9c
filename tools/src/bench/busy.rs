//! `cargo course bench busy`: decoding beside other programs that keep cores busy.

use std::{
    fs,
    hint::spin_loop,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use anyhow::{Context, Result};
use clap::{Args, value_parser};

use super::{
    processor,
    week2::{
        engine::{Engine, Measured, Peer, Run},
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
    /// Python program with llama-cpp-python installed [default: the one in .venv]
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
}

type Measure<'a> = Box<dyn Fn(&Run) -> Result<Measured> + 'a>;

/// Runs the engine with one thread and with many beside 0, 1 and 2 busy threads of this process.
/// All rows of a round follow each other.
///
/// # Errors
/// If an engine cannot be built or fails.
pub(super) fn bench(root: &Path, options: &Options) -> Result<()> {
    let folder = root.join("target/course-bench");
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let reference = Engine::reference(root, &folder)?;
    let peer = Peer::llama_cpp(root, options.python.as_deref())?;
    let written = folder.join("busy.gguf");
    let model = options.model.as_ref().unwrap_or(&written);
    if options.model.is_none() {
        let path = written.to_string_lossy();
        reference.run(&["synth", "--like", "smollm2-360m", "--type", "q4_0", "--out", &path])?;
    }
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u16);
    let many = options.threads.unwrap_or(cores.max(2));
    let ours = |run: &Run| reference.measure(run);
    let mut engines: Vec<(&str, Measure<'_>)> = vec![("ours", Box::new(ours))];
    if let Some(peer) = &peer {
        engines.push(("llama.cpp", Box::new(|run| peer.measure(run))));
    }

    println!("Decoded tokens/s beside busy threads, on {}:\n", processor());
    println!("{:<24} {:>8} {:>8} {:>8}", "", "idle", "1 busy", "2 busy");
    let mut line = Line::default();
    for (name, measure) in engines {
        let mut rates = [1, many].map(|threads| (threads, [const { Vec::new() }; 3]));
        for round in 1..=options.rounds {
            line.show(&format!("measuring: {name}, round {round} of {}", options.rounds));
            for busy in 0..3 {
                for (threads, of_busy) in &mut rates {
                    let arguments = vec![format!("-j{threads}")];
                    let run = Run { prompt: 10, new: 129, ..Run::new(model, arguments) };
                    let measured = beside(busy, || measure(&run))?;
                    of_busy[busy].extend(measured.decode_tokens_per_second);
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
        row("  many to one", [ratio(0), ratio(1), ratio(2)]);
    }
    if options.model.is_none() {
        let _ = fs::remove_file(written);
    }
    Ok(())
}

fn row(name: &str, [idle, one, two]: [String; 3]) {
    println!("{name:<24} {idle:>8} {one:>8} {two:>8}");
}

/// Does something while so many threads of this process spin.
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
