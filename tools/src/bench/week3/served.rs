//! Runs one load through one engine.

use std::{path::Path, thread::sleep, time::Duration};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::super::{Outcome, week2::engine::Engine};

/// An engine's results for a load.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Served {
    pub(super) tokens_per_second: f64,
    pub(super) first_token_s: Quantiles,
    /// Inter-token latency.
    pub(super) gap_s: Quantiles,
    /// The longest inter-token latency of each request.
    pub(super) longest_gap_s: Quantiles,
    pub(super) steps: u64,
    pub(super) rows_a_step: f64,
    /// Number of prompt positions that were found in pages of other requests.
    pub(super) attached: u64,
    pub(super) prompt_tokens: u64,
    pub(super) new_tokens: u64,
    pub(super) cache_bytes_used: f64,
    pub(super) cache_bytes_held: f64,
    /// Maximum number of bytes that were reserved but unused, per request.
    pub(super) cache_bytes_beyond_for_each: f64,
    pub(super) drafts: Option<u64>,
    pub(super) drafts_accepted: Option<u64>,
}

/// Quantiles in seconds. `None` if nothing was measured.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Quantiles {
    pub(super) median: Option<f64>,
    pub(super) p99: Option<f64>,
}

impl Served {
    /// Returns the total tokens per second of `requests` sequences that decode together.
    pub(super) fn decode_rate(&self, requests: usize) -> Option<f64> {
        Some(requests as f64 / self.gap_s.median?)
    }

    /// Returns the number of prompt rows that were computed.
    pub(super) fn prompt_rows(&self) -> u64 {
        self.prompt_tokens - self.attached
    }
}

/// Pause before each run, to let other activity on the machine settle.
const PAUSE: Duration = Duration::from_millis(400);

/// Runs the engine's `simulate` once, and returns its results.
pub(super) fn serve(engine: &Engine, model: &Path, arguments: &[String]) -> Result<Served> {
    sleep(PAUSE);
    let model = model.to_string_lossy();
    let always = ["simulate", "--real-only", "--json", "--model", &model];
    let words = always.into_iter().chain(arguments.iter().map(String::as_str));
    engine.json(&words.collect::<Vec<_>>())
}

/// Serves a load `times` times on each engine, in turns. Keeps the run of each engine with the
/// median number of tokens per second.
pub(super) fn in_turns(
    engines: [Option<&Engine>; 2],
    model: &Path,
    arguments: &[String],
    times: usize,
) -> [Option<Outcome<Served>>; 2] {
    let mut runs: [Vec<Served>; 2] = Default::default();
    let mut errors: [Option<String>; 2] = Default::default();
    for _ in 0..times {
        for ((engine, runs), error) in engines.iter().zip(&mut runs).zip(&mut errors) {
            let Some(engine) = engine else { continue };
            if error.is_some() {
                continue;
            }
            match serve(engine, model, arguments) {
                Ok(served) => runs.push(served),
                Err(problem) => *error = Some(last_line(&format!("{problem:#}"))),
            }
        }
    }
    let mut outcomes =
        runs.into_iter().zip(errors).zip(engines).map(|((mut runs, error), engine)| {
            engine?;
            runs.sort_by(|a, b| a.tokens_per_second.total_cmp(&b.tokens_per_second));
            let middle = runs.len() / 2;
            Some(match error {
                Some(error) => Outcome::Failed { error },
                None => Outcome::Done(Box::new(runs.swap_remove(middle))),
            })
        });
    [outcomes.next().flatten(), outcomes.next().flatten()]
}

/// Returns the last line of an error, without the command that failed. For a stub's panic, this
/// line names the missing task.
fn last_line(text: &str) -> String {
    let line = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or(text);
    let line = line.rsplit_once("` failed: ").map_or(line, |(_, problem)| problem);
    line.trim().trim_start_matches("error: ").to_owned()
}
