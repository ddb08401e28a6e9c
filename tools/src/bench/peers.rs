//! The programs of llama.cpp and of its fork ik_llama.cpp, with which the engine is compared.
//!
//! Both can repack the weights while loading, as our engine can. Both layouts are measured, and the
//! faster one counts.

use std::{
    env::{self, consts::EXE_SUFFIX},
    fmt::Write,
    path::{self, Path, PathBuf},
    process::Command,
    thread,
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use super::week2::engine::{Engine, Run, median};
use crate::process::{Finished, run_quietly, shown};

/// Which programs to compare with.
#[derive(Debug, Args)]
#[group(id = "peers_of_llama")]
pub(super) struct Options {
    /// Folder of llama.cpp's programs (repeatable, for example to add ik_llama.cpp)
    #[arg(id = "llama_bin", long = "llama-bin", value_name = "FOLDER", value_parser = Peer::of)]
    pub(super) peers: Vec<Peer>,
}

/// The programs of one project, in one folder.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    pub(super) name: &'static str,
    folder: PathBuf,
}

/// What one sequence computes in a measurement.
#[derive(Debug, Clone, Copy)]
pub(super) enum Work {
    Prefill(usize),
    Decode { after: usize, new: usize },
}

/// Tokens per second with the weights as stored and with repacked weights, one value per round.
#[derive(Debug, Clone, Default)]
pub(super) struct Rates {
    plain: Vec<f64>,
    repacked: Vec<f64>,
}

/// A peer that reaches less than this fraction of the memory bandwidth is slower than it should be.
const SLOW: f64 = 0.6;
/// Maximum number of tokens in one pass of a peer.
const BATCH: &str = "512";
/// Maximum number of runs of `llama-batched-bench` if its table is incomplete. It sometimes ends
/// before it has written the last line.
const ATTEMPTS: usize = 3;

impl Peer {
    /// Determines which project's programs are in a folder.
    fn of(folder: &str) -> Result<Self, String> {
        let folder = path::absolute(folder).map_err(|error| format!("{folder}: {error}"))?;
        let peer = Self { name: "llama.cpp", folder };
        let help = run_quietly(peer.program("llama-bench").arg("--help"));
        let help = help.map_err(|error| format!("{error:#}"))?.text;
        let is_fork = help.contains("-rtr");
        Ok(Self { name: if is_fork { "ik_llama.cpp" } else { peer.name }, ..peer })
    }

    fn is_fork(&self) -> bool {
        self.name != "llama.cpp"
    }

    /// Returns a command for a program. It runs in the folder for temporary files, because some
    /// programs write a log to the current folder.
    fn program(&self, name: &str) -> Command {
        let mut program = Command::new(self.folder.join(format!("{name}{EXE_SUFFIX}")));
        program.current_dir(env::temp_dir());
        program
    }

    /// Returns a command for the peer's server, if the folder has one.
    pub(super) fn server(&self) -> Option<Command> {
        let server = self.program("llama-server");
        Path::new(server.get_program()).is_file().then_some(server)
    }

    /// Runs `llama-bench` for one sequence. Returns tokens per second.
    pub(super) fn rate(&self, model: &Path, threads: u16, work: Work, repack: bool) -> Result<f64> {
        let mut command = self.program("llama-bench");
        command.arg("-m").arg(path::absolute(model)?).args([
            "-t",
            &threads.to_string(),
            "-ub",
            BATCH,
        ]);
        command.args(["-fa", "1", "-r", "1", "-o", "json"]);
        command.args([
            if self.is_fork() { "-rtr" } else { "--repack" },
            if repack { "1" } else { "0" },
        ]);
        match work {
            Work::Prefill(tokens) => command.args(["-p", &tokens.to_string(), "-n", "0"]),
            Work::Decode { after, new } if self.is_fork() => {
                command.args(["-p", "0", "-n", "0", "-gp", &format!("{after},{new}")])
            }
            Work::Decode { after, new } => {
                command.args(["-p", "0", "-n", &new.to_string(), "-d", &after.to_string()])
            }
        };
        let printed = finished(&mut command)?.output;
        one_rate(&printed).with_context(|| format!("`{}` printed no rate", shown(&command)))
    }

    /// Runs `llama-batched-bench`. For each number in `sequences`, returns the total tokens per
    /// second of that many sequences that decode together.
    pub(super) fn batched(
        &self,
        model: &Path,
        threads: u16,
        (prompt, new): (usize, usize),
        sequences: &[usize],
        repack: bool,
    ) -> Result<Vec<f64>> {
        let most = sequences.iter().max().context("no number of sequences")?;
        let list: Vec<String> = sequences.iter().map(usize::to_string).collect();
        // llama.cpp gives each sequence a multiple of 256 positions.
        let context = most * (prompt + new).next_multiple_of(256);
        let mut command = self.program("llama-batched-bench");
        command.arg("-m").arg(path::absolute(model)?).args([
            "-t",
            &threads.to_string(),
            "-ub",
            BATCH,
        ]);
        command.args(["-fa", "on", "-c", &context.to_string(), "-npl", &list.join(",")]);
        command.args(["-npp", &prompt.to_string(), "-ntg", &new.to_string()]);
        command.args((repack && self.is_fork()).then_some("-rtr"));
        command.args((!repack && !self.is_fork()).then_some("--no-repack"));
        for _ in 0..ATTEMPTS {
            // The fork prints its table on standard error.
            let printed = finished(&mut command)?.text;
            let rates = sequences.iter().map(|&n| batched_rate(&printed, n));
            if let Some(rates) = rates.collect() {
                return Ok(rates);
            }
        }
        bail!("`{}` printed incomplete tables, {ATTEMPTS} of {ATTEMPTS} times", shown(&command))
    }

    /// Measures each layout of the weights once. Returns the rate with the faster layout, and
    /// whether that is the repacked one.
    pub(super) fn best(&self, model: &Path, threads: u16, work: Work) -> Result<(f64, bool)> {
        let [plain, repacked] = [false, true].map(|repack| self.rate(model, threads, work, repack));
        let (plain, repacked) = (plain?, repacked?);
        Ok((plain.max(repacked), repacked > plain))
    }
}

impl Rates {
    /// Calls `measure` once without and once with repacked weights, and stores both rates.
    pub(super) fn round(&mut self, mut measure: impl FnMut(bool) -> Result<f64>) -> Result<()> {
        self.plain.push(measure(false)?);
        self.repacked.push(measure(true)?);
        Ok(())
    }

    /// Returns the rates of the layout with the higher median, and its name.
    pub(super) fn best(&self) -> (&[f64], &'static str) {
        let of = |rates: &[f64]| median(rates.iter().copied());
        if of(&self.repacked) > of(&self.plain) {
            (&self.repacked, "repacked")
        } else {
            (&self.plain, "as stored")
        }
    }

    pub(super) fn median(&self) -> f64 {
        median(self.best().0.iter().copied())
    }
}

/// Returns the requested number of threads, or one per core.
pub(super) fn threads(wanted: Option<u16>) -> u16 {
    wanted.unwrap_or_else(|| thread::available_parallelism().map_or(1, |cores| cores.get() as u16))
}

/// Measures the fraction of the memory bandwidth that each peer reaches when it decodes one
/// sequence. If something slows a peer down, all ratios are too favourable to our engine.
///
/// # Errors
/// If a program fails.
pub(super) fn check(engine: &Engine, peers: &[Peer], model: &Path, threads: u16) -> Result<String> {
    let mut out = String::new();
    for peer in peers {
        let (rate, _) = peer.best(model, threads, Work::Decode { after: 10, new: 64 })?;
        let arguments = vec![format!("-j{threads}"), "--bandwidth".to_owned()];
        let ours = engine.measure(&Run::new(model, arguments))?;
        let both = ours.weight_bytes_per_token.zip(ours.bandwidth_bytes_per_second);
        let (bytes, bandwidth) = both.context("the engine reported no bandwidth")?;
        let _ = writeln!(out, "{}", share_line(peer.name, rate, rate * bytes, bandwidth));
    }
    Ok(out)
}

fn share_line(name: &str, rate: f64, read: f64, bandwidth: f64) -> String {
    let share = read / bandwidth;
    let warning = if share < SLOW {
        "; that is less than 60 %, so something slows this peer down and flatters our ratios"
    } else {
        ""
    };
    format!(
        "{name} decodes one sequence at {rate:.1} tokens/s. It reads {:.1} of {:.1} GB/s, {:.0} %{warning}",
        read / 1e9,
        bandwidth / 1e9,
        100.0 * share
    )
}

fn finished(command: &mut Command) -> Result<Finished> {
    let finished = run_quietly(command)?;
    if !finished.status.success() {
        bail!("`{}` failed: {}", shown(command), finished.tail(3));
    }
    Ok(finished)
}

/// Finds the rate of the only test in the output of `llama-bench -o json`. The output is not parsed
/// as JSON, because the fork prints warnings in between.
fn one_rate(printed: &str) -> Result<f64> {
    let rates = printed.lines().filter_map(|line| line.trim().strip_prefix("\"avg_ts\": "));
    let rates: Vec<&str> = rates.collect();
    ensure!(rates.len() == 1, "found {} tests, expected one", rates.len());
    Ok(rates[0].trim_end_matches(',').parse()?)
}

/// Finds the rate for `sequences` in the table that `llama-batched-bench` printed.
fn batched_rate(printed: &str, sequences: usize) -> Option<f64> {
    printed.lines().find_map(|line| {
        let cells: Vec<&str> = line.trim().strip_prefix('|')?.split('|').map(str::trim).collect();
        let is_it = cells.get(2)?.parse() == Ok(sequences);
        is_it.then(|| cells.get(7)?.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_rates_from_the_programs_output() {
        let json = "[\nWARNING: 0 bytes!\n  {\n    \"n_prompt\": 512,\n    \"avg_ts\": 171.25,\n    \"samples_ts\": [ 171.25 ]\n  }\n]\n";
        assert_eq!(one_rate(json).unwrap(), 171.25);
        assert!(one_rate("[\n]\n").is_err() && one_rate("no file").is_err());
        let table = "\
            main: n_kv_max = 4096, n_batch = 2048\n\n\
            |    PP |     TG |    B |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |      T s |    S t/s |\n\
            |-------|--------|------|--------|----------|----------|----------|----------|----------|----------|\n\
            |   128 |     64 |    1 |    192 |    1.280 |   100.00 |    1.600 |    40.00 |    2.880 |    66.67 |\n\
            |   128 |     64 |   16 |   3072 |   20.480 |   100.00 |   10.240 |   101.50 |   30.720 |   100.00 |\n";
        assert_eq!([1, 16, 8].map(|n| batched_rate(table, n)), [Some(40.0), Some(101.5), None]);
    }

    #[test]
    fn best_returns_the_faster_layout() {
        let mut rates = Rates::default();
        for (plain, repacked) in [(10.0, 9.0), (8.0, 12.0), (9.0, 11.0)] {
            rates.round(|repack| Ok(if repack { repacked } else { plain })).unwrap();
        }
        assert_eq!((rates.best(), rates.median()), ((&[9.0, 12.0, 11.0][..], "repacked"), 11.0));
    }

    #[test]
    fn share_line_warns_about_a_slow_peer() {
        let line = |read| share_line("llama.cpp", 40.0, read, 30e9);
        assert_eq!(
            line(24e9),
            "llama.cpp decodes one sequence at 40.0 tokens/s. It reads 24.0 of 30.0 GB/s, 80 %"
        );
        assert!(line(17e9).contains("57 %; that is less than 60 %"), "{}", line(17e9));
    }
}
