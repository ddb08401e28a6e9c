//! The programs that are measured: each prints one JSON object with what it did.

use std::{
    env::consts::EXE_SUFFIX,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::{
    environment::Venv,
    process::{run_quietly, shown},
    progress,
};

/// What a program says of one run; fields that it does not know are left out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::bench) struct Measured {
    pub(super) prompt_tokens: usize,
    pub(super) new_tokens: usize,
    pub(super) prefill_tokens_per_second: f64,
    pub(in crate::bench) decode_tokens_per_second: Option<f64>,
    /// Bytes of weights that one decoded token reads.
    pub(super) weight_bytes_per_token: Option<f64>,
    /// Operations with weights that one token needs: a multiplication and an addition for each
    /// weight.
    pub(super) operations_per_token: Option<f64>,
    /// What this machine's memory gives to as many threads, measured at the end of the run.
    pub(super) bandwidth_bytes_per_second: Option<f64>,
    /// What this machine's matrix units do on as many threads, if it has any that the engine uses.
    pub(super) matrix_unit_operations_per_second: Option<f64>,
    pub(super) threads: Option<usize>,
    /// In words: kernels, threads, attention, cache.
    pub(super) engine: Option<String>,
    #[serde(alias = "memory_end_bytes")]
    pub(super) memory: Option<Memory>,
    /// llama.cpp's own choices.
    pub(super) prefill_settings: Option<String>,
    pub(super) decode_settings: Option<String>,
    /// What it found in this machine, in its own words.
    pub(super) system: Option<String>,
    /// From the opening of the file to the first token, for programs that do not start as fast as
    /// they load.
    pub(super) first_token_seconds: Option<f64>,
    /// Wall time of the whole process.
    #[serde(default)]
    pub(super) process_seconds: f64,
}

/// Resident bytes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Memory {
    /// The process's own.
    pub(super) own: f64,
    /// Of mapped files.
    pub(super) mapped: f64,
}

impl Measured {
    /// How much of the memory's bandwidth decoding uses.
    pub(super) fn share_of_bandwidth(&self) -> Option<f64> {
        Some(
            self.decode_tokens_per_second? * self.weight_bytes_per_token?
                / self.bandwidth_bytes_per_second?,
        )
    }

    /// Whether another engine uses matrix units with these settings: llama.cpp does so on weights
    /// that it has laid out anew.
    pub(super) fn has_matrix_units(&self, settings: &str) -> bool {
        let found = self.system.as_ref().is_some_and(|system| system.contains("AMX_INT8 = 1"));
        found && settings.split(',').any(|one| one == "repack")
    }

    /// How much of the matrix units' rate a prompt uses, attention and all.
    pub(super) fn share_of_matrix_units(&self) -> Option<f64> {
        Some(
            self.prefill_tokens_per_second * self.operations_per_token?
                / self.matrix_unit_operations_per_second?,
        )
    }
}

/// One run of a program.
#[derive(Debug, Clone)]
pub(in crate::bench) struct Run {
    pub(in crate::bench) model: PathBuf,
    /// Options that the program is given beside the sizes.
    pub(in crate::bench) arguments: Vec<String>,
    pub(in crate::bench) prompt: usize,
    pub(in crate::bench) new: usize,
    /// The number of runs, of which the fastest counts.
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

/// Our command line, on the reference or on the learner's solution.
#[derive(Debug)]
pub(in crate::bench) struct Engine {
    program: PathBuf,
    /// Whether it has to do without a matrix unit, if there is one.
    without_amx: bool,
}

/// More often than this nothing is repeated.
const MOST_REPEATS: f64 = 30.0;

/// How the command line is built for either.
const BUILD: [&str; 4] = ["--release", "--bin", "tiny-llm", "--features"];

impl Engine {
    /// Builds the reference and keeps a copy of the program: the next build with other features
    /// would replace it.
    pub(in crate::bench) fn reference(root: &Path, folder: &Path) -> Result<Self> {
        Self::build(root, folder, "the reference engine", "cli,reference", "reference")
    }

    /// The same of the learner's solution; `None`, with a note, if it does not compile.
    pub(in crate::bench) fn learners(root: &Path, folder: &Path) -> Option<Self> {
        let built = Self::build(root, folder, "your engine", "cli", "yours");
        built.inspect_err(|error| eprintln!("your engine is left out: {error:#}")).ok()
    }

    fn build(root: &Path, folder: &Path, what: &str, features: &str, name: &str) -> Result<Self> {
        progress::build(root, what, &[&BUILD[..], &[features]].concat())?;
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| root.join("target"), |folder| root.join(folder));
        let built = target.join("release").join(format!("tiny-llm{EXE_SUFFIX}"));
        let program = folder.join(format!("{name}{EXE_SUFFIX}"));
        fs::copy(&built, &program).with_context(|| {
            format!("{} cannot be copied to {}", built.display(), program.display())
        })?;
        Ok(Self { program, without_amx: false })
    }

    /// The same, as if the machine had no matrix unit.
    pub(in crate::bench) fn without_amx(&self) -> Self {
        Self { program: self.program.clone(), without_amx: true }
    }

    /// Runs a command, and returns what it printed.
    pub(in crate::bench) fn run(&self, arguments: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        command.envs(self.without_amx.then_some(("TINY_LLM_AMX", "hidden")));
        let finished = run_quietly(&mut command)?;
        if !finished.status.success() {
            bail!("`{}` failed: {}", shown(&command), finished.tail(3));
        }
        Ok(finished.output)
    }

    /// Measures once.
    pub(in crate::bench) fn measure(&self, run: &Run) -> Result<Measured> {
        let mut command = Command::new(&self.program);
        command
            .args(["bench", "--json", "--week=2", "--model"])
            .arg(&run.model)
            .args(run.sizes())
            .args(&run.arguments);
        measured(&mut command)
    }

    /// Measures for about `seconds`, by repeating what is measured: what a slow rung does once, a fast
    /// one does often, and the fastest counts.
    pub(super) fn measure_for(&self, run: &Run, seconds: f64, cached: bool) -> Result<Measured> {
        let probe = self.measure(&Run { prompt: 8, new: 3, repeat: 1, ..run.clone() })?;
        let (prompt, new) = (run.prompt as f64, run.new as f64);
        // Without a cache each new token costs a prefill of all before it.
        let rows = if cached { prompt } else { prompt + new * (prompt + new / 2.0) };
        let decode = probe.decode_tokens_per_second.filter(|_| cached);
        let once = rows / probe.prefill_tokens_per_second + decode.map_or(0.0, |rate| new / rate);
        let repeat = (seconds / once).clamp(1.0, MOST_REPEATS) as usize;
        let mut run = Run { repeat, ..run.clone() };
        run.arguments.push("--bandwidth".to_owned());
        self.measure(&run)
    }
}

/// Another engine. Its program is given the model, `-j`, `--prompt-tokens`, `-n`, `--repeat`, and
/// prints JSON with the fields that ours has.
#[derive(Debug, Clone)]
pub(in crate::bench) struct Peer {
    pub(super) name: String,
    /// The program and its first arguments.
    command: Vec<PathBuf>,
    /// Whether it takes `--settings`.
    has_settings: bool,
}

/// In the repository.
const LLAMA_CPP: &str = "python-ref/peers/llama_cpp_bench.py";

impl Peer {
    /// llama.cpp, if `python` (without it, that of `.venv`) has the package. A Python that was
    /// named must have it.
    pub(in crate::bench) fn llama_cpp(root: &Path, python: Option<&Path>) -> Result<Option<Self>> {
        let named = python.is_some();
        let python = match python {
            Some(python) => python.to_owned(),
            None => Venv::of(root)?.python,
        };
        let finished = run_quietly(Command::new(&python).args(["-c", "import llama_cpp"]));
        match finished {
            Ok(finished) if finished.status.success() => Ok(Some(Self {
                name: "llama.cpp".to_owned(),
                command: vec![python, root.join(LLAMA_CPP)],
                has_settings: true,
            })),
            Ok(finished) if named => {
                bail!("{} has no llama-cpp-python: {}", python.display(), finished.tail(1))
            }
            Err(error) if named => Err(error),
            _ => Ok(None),
        }
    }

    /// The interpreter that has its package.
    pub(in crate::bench) fn into_python(mut self) -> PathBuf {
        self.command.swap_remove(0)
    }

    /// Any program, given as `NAME=PROGRAM`.
    pub(super) fn other(text: &str) -> Result<Self, String> {
        let (name, program) = text.split_once('=').ok_or("expected NAME=PROGRAM")?;
        if !Path::new(program).is_file() {
            return Err(format!("found no program {program}"));
        }
        Ok(Self { name: name.to_owned(), command: vec![program.into()], has_settings: false })
    }

    /// The settings with which it is fastest on this file, in prefill and in decoding, and what else
    /// it said; `None` if it has no settings.
    pub(super) fn best_settings(
        &self,
        model: &Path,
        threads: u16,
    ) -> Result<Option<(String, String, Measured)>> {
        if !self.has_settings {
            return Ok(None);
        }
        let arguments = vec![format!("-j{threads}"), "--settings=best".to_owned()];
        let measured =
            self.measure(&Run { prompt: 256, new: 33, repeat: 2, ..Run::new(model, arguments) })?;
        let both = measured.prefill_settings.clone().zip(measured.decode_settings.clone());
        let (prefill, decode) =
            both.with_context(|| format!("{} does not say its settings", self.name))?;
        Ok(Some((prefill, decode, measured)))
    }

    pub(in crate::bench) fn measure(&self, run: &Run) -> Result<Measured> {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).arg(&run.model).args(run.sizes()).args(&run.arguments);
        measured(&mut command)
    }
}

/// Runs a program and reads what it printed.
fn measured(command: &mut Command) -> Result<Measured> {
    let finished = run_quietly(command)?;
    if !finished.status.success() {
        // The last line of a stub's panic says which task is missing.
        bail!("{}", finished.tail(1).trim_start_matches("error: "));
    }
    let line = finished.output.lines().find(|line| line.starts_with('{'));
    let line = line.with_context(|| format!("`{}` printed no measurement", shown(command)))?;
    let mut measured: Measured = serde_json::from_str(line)
        .with_context(|| format!("`{}` printed another measurement", shown(command)))?;
    measured.process_seconds = Duration::as_secs_f64(&finished.duration);
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_may_lack_what_a_program_does_not_know() {
        let json = r#"{"prompt_tokens": 8, "new_tokens": 4, "prefill_tokens_per_second": 2.5, "decode_tokens_per_second": 10.0,
            "weight_bytes_per_token": 500, "bandwidth_bytes_per_second": 20000, "memory_end_bytes": {"own": 7, "mapped": 9}, "new": []}"#;
        let measured: Measured = serde_json::from_str(json).unwrap();
        assert_eq!(
            (measured.share_of_bandwidth(), measured.memory.unwrap().own),
            (Some(0.25), 7.0)
        );
        assert!(!measured.has_matrix_units("repack,flash"), "it does not say so");
        let with_unit =
            Measured { system: Some("AVX = 1 | AMX_INT8 = 1 |".to_owned()), ..measured };
        assert_eq!(
            ["repack,flash", "no-repack,flash", ""]
                .map(|settings| with_unit.has_matrix_units(settings)),
            [true, false, false]
        );
        let peer = r#"{"prompt_tokens": 8, "new_tokens": 1, "prefill_tokens_per_second": 2.5, "decode_tokens_per_second": null, "memory": {}}"#;
        assert!(serde_json::from_str::<Measured>(peer).is_err(), "memory is whole or missing");
    }
}
