//! The programs that are measured. Each prints its results as one JSON object.

use std::{
    env::consts::EXE_SUFFIX,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    process::{run_quietly, shown, target},
    progress,
};

/// The results of one run. Fields that a program does not report are omitted.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(in crate::bench) struct Measured {
    pub(super) prompt_tokens: usize,
    pub(super) new_tokens: usize,
    pub(super) prefill_tokens_per_second: f64,
    pub(in crate::bench) decode_tokens_per_second: Option<f64>,
    /// Number of bytes of weights that are read for one decoded token.
    pub(in crate::bench) weight_bytes_per_token: Option<f64>,
    /// Operations with weights per token: a multiplication and an addition for each weight.
    pub(super) operations_per_token: Option<f64>,
    /// Memory bandwidth of this machine with the same number of threads, measured at the end of the
    /// run.
    pub(in crate::bench) bandwidth_bytes_per_second: Option<f64>,
    /// Rate of this machine's matrix units with the same number of threads, if the engine uses any.
    pub(super) matrix_unit_operations_per_second: Option<f64>,
    pub(super) threads: Option<usize>,
    /// Description of the kernels, threads, attention and cache.
    pub(super) engine: Option<String>,
    #[serde(alias = "memory_end_bytes")]
    pub(super) memory: Option<Memory>,
}

/// Resident memory of a process, in bytes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Memory {
    /// The process's own memory.
    pub(super) own: f64,
    /// Memory of mapped files.
    pub(super) mapped: f64,
}

impl Measured {
    /// Returns the fraction of the memory bandwidth that decoding uses.
    pub(super) fn share_of_bandwidth(&self) -> Option<f64> {
        Some(
            self.decode_tokens_per_second? * self.weight_bytes_per_token?
                / self.bandwidth_bytes_per_second?,
        )
    }

    /// Returns the fraction of the matrix units' rate that a prompt reaches. The prompt's time
    /// includes attention, but its operations do not.
    pub(super) fn share_of_matrix_units(&self) -> Option<f64> {
        Some(
            self.prefill_tokens_per_second * self.operations_per_token?
                / self.matrix_unit_operations_per_second?,
        )
    }
}

/// The parameters of one run.
#[derive(Debug, Clone)]
pub(in crate::bench) struct Run {
    pub(in crate::bench) model: PathBuf,
    /// Options in addition to the model, the sizes and the repetitions.
    pub(in crate::bench) arguments: Vec<String>,
    pub(in crate::bench) prompt: usize,
    pub(in crate::bench) new: usize,
    /// Number of repetitions. The fastest repetition counts.
    pub(in crate::bench) repeat: usize,
}

impl Run {
    pub(in crate::bench) fn new(model: &Path, arguments: Vec<String>) -> Self {
        Self { model: model.to_owned(), arguments, prompt: 32, new: 9, repeat: 1 }
    }

    fn sizes(&self) -> [String; 6] {
        let [prompt, new, repeat] = [self.prompt, self.new, self.repeat].map(|n| n.to_string());
        ["--prompt-tokens".to_owned(), prompt, "-n".to_owned(), new, "--repeat".to_owned(), repeat]
    }
}

/// Our command line, with the reference or with the learner's solution.
#[derive(Debug)]
pub(in crate::bench) struct Engine {
    program: PathBuf,
}

/// Maximum number of repetitions.
const MOST_REPEATS: f64 = 30.0;

/// Cargo's arguments to build the command line, except its features.
const BUILD: [&str; 4] = ["--release", "--bin", "tiny-llm", "--features"];

impl Engine {
    /// Builds the reference and keeps a copy of the program, because the next build with other
    /// features will replace it.
    pub(in crate::bench) fn reference(root: &Path, folder: &Path) -> Result<Self> {
        Self::build(root, folder, "the reference engine", "cli,reference", "reference")
    }

    /// Builds the learner's solution, and keeps a copy of the program. If it does not compile,
    /// prints a note and returns `None`.
    pub(in crate::bench) fn learners(root: &Path, folder: &Path) -> Option<Self> {
        let built = Self::build(root, folder, "your engine", "cli", "yours");
        built.inspect_err(|error| eprintln!("your engine is left out: {error:#}")).ok()
    }

    fn build(root: &Path, folder: &Path, what: &str, features: &str, name: &str) -> Result<Self> {
        progress::build(root, what, &[&BUILD[..], &[features]].concat())?;
        let built = target(root).join("release").join(format!("tiny-llm{EXE_SUFFIX}"));
        let program = folder.join(format!("{name}{EXE_SUFFIX}"));
        fs::copy(&built, &program).with_context(|| {
            format!("{} cannot be copied to {}", built.display(), program.display())
        })?;
        Ok(Self { program })
    }

    /// Runs the program with `arguments`, and returns its output.
    pub(in crate::bench) fn run(&self, arguments: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        let finished = run_quietly(&mut command)?;
        if !finished.status.success() {
            bail!("`{}` failed: {}", shown(&command), finished.tail(3));
        }
        Ok(finished.output)
    }

    /// Runs the program with `arguments`, and parses the JSON object that is a line of its output.
    pub(in crate::bench) fn json<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<T> {
        let printed = self.run(arguments)?;
        let line = printed.lines().find(|line| line.starts_with('{'));
        let line = line.context("the engine printed no measurement")?;
        serde_json::from_str(line).context("the engine printed an unexpected measurement")
    }

    /// Runs the engine's `bench` with the parameters `run`, and returns its results.
    pub(in crate::bench) fn measure(&self, run: &Run) -> Result<Measured> {
        let mut command = Command::new(&self.program);
        command
            .args(["bench", "--json", "--week=2", "--model"])
            .arg(&run.model)
            .args(run.sizes())
            .args(&run.arguments);
        measured(&mut command)
    }

    /// Measures for about `seconds`, by repeating the run: slow kernels once, and fast ones many
    /// times. The fastest run counts. `cached` says whether the run has a KV cache.
    pub(super) fn measure_for(&self, run: &Run, seconds: f64, cached: bool) -> Result<Measured> {
        let probe = self.measure(&Run { prompt: 8, new: 3, repeat: 1, ..run.clone() })?;
        let (prompt, new) = (run.prompt as f64, run.new as f64);
        // Without a cache, each new token needs a prefill of all previous tokens.
        let rows = if cached { prompt } else { prompt + new * (prompt + new / 2.0) };
        let decode = probe.decode_tokens_per_second.filter(|_| cached);
        let once = rows / probe.prefill_tokens_per_second + decode.map_or(0.0, |rate| new / rate);
        let repeat = (seconds / once).clamp(1.0, MOST_REPEATS) as usize;
        let mut run = Run { repeat, ..run.clone() };
        run.arguments.push("--bandwidth".to_owned());
        self.measure(&run)
    }
}

/// Runs a program and parses its output.
fn measured(command: &mut Command) -> Result<Measured> {
    let finished = run_quietly(command)?;
    if !finished.status.success() {
        // The last line of a stub's panic names the missing task.
        bail!("{}", finished.tail(1).trim_start_matches("error: "));
    }
    let line = finished.output.lines().find(|line| line.starts_with('{'));
    let line = line.with_context(|| format!("`{}` printed no measurement", shown(command)))?;
    serde_json::from_str(line)
        .with_context(|| format!("`{}` printed an unexpected measurement", shown(command)))
}

/// Returns the median of one or more values. For an even number, it is the mean of the middle two.
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
    fn parses_a_measurement_without_optional_fields() {
        let json = r#"{"prompt_tokens": 8, "new_tokens": 4, "prefill_tokens_per_second": 2.5, "decode_tokens_per_second": 10.0,
            "weight_bytes_per_token": 500, "bandwidth_bytes_per_second": 20000, "memory_end_bytes": {"own": 7, "mapped": 9}, "new": []}"#;
        let measured: Measured = serde_json::from_str(json).unwrap();
        assert_eq!(
            (measured.share_of_bandwidth(), measured.memory.unwrap().own),
            (Some(0.25), 7.0)
        );
        let peer = r#"{"prompt_tokens": 8, "new_tokens": 1, "prefill_tokens_per_second": 2.5, "decode_tokens_per_second": null, "memory": {}}"#;
        assert!(serde_json::from_str::<Measured>(peer).is_err(), "memory is whole or missing");
    }
}
