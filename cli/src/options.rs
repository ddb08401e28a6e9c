//! Options that several commands share, and the check of every value.

use std::{
    convert::Infallible,
    path::{Path, PathBuf},
    process::ExitCode,
    str::FromStr,
};

use anyhow::Result;
use clap::error::ErrorKind;

use super::{LoadOptions, Model, Solution, WrongOption, output};
use tiny_llm_formats::request::{Limit, SamplerOptions};

/// Which model, and how it is run.
#[derive(clap::Args, Clone)]
pub(super) struct ModelOption {
    /// Model folder or GGUF file [default: the embedded model, models/tiny-story]
    #[arg(long, value_name = "PATH")]
    model: Option<PathBuf>,
    /// Which week's engine: 1 or 2 [default: 1 for a folder, 2 for a GGUF file]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2))]
    week: Option<u8>,
    /// Threads [default: one for each physical core]
    #[arg(short = 'j', long, value_name = "N", value_parser = threads, help_heading = "Week 2's engine")]
    threads: Option<usize>,
    /// Longest sequence, prompt and answer together [default: the model's, at most 4096]
    #[arg(short = 'c', long, value_name = "N", value_parser = at_least_one, help_heading = "Week 2's engine")]
    context: Option<usize>,
    /// Rung of the kernel ladder [default: the highest that you have written; in ours, the fastest
    /// that this machine has]
    #[arg(long, value_name = "RUNG", help_heading = "Week 2's engine")]
    kernels: Option<String>,
    /// two-pass or streaming [default: streaming]
    #[arg(long, value_name = "KIND", help_heading = "Week 2's engine")]
    attention: Option<String>,
    /// f32 or f16 [default: f16]
    #[arg(long, value_name = "TYPE", help_heading = "Week 2's engine")]
    cache_type: Option<String>,
    /// How the model is run: direct, or as week 4's graph, or that in one arena [default: direct]
    #[arg(long, value_name = "ENGINE", help_heading = "Week 4")]
    engine: Option<String>,
    /// Who computes the graph: cpu, gpu or auto (the gpu if there is one); or twin:OP,OP…, a second
    /// processor with memory of its own that lacks these operations
    #[arg(long, value_name = "BACKEND", help_heading = "Week 4")]
    backend: Option<String>,
    /// Compute every position again for every token
    #[arg(long, help_heading = "Week 2's engine")]
    no_cache: bool,
    #[arg(skip)]
    speed: SpeedOptions,
}

/// Options that make an answer faster, and change nothing in it.
#[derive(clap::Args, Clone, Default)]
pub(super) struct SpeedOptions {
    /// Keep the prompt's keys and values in this file, and begin with what is there of them
    #[arg(long, value_name = "FILE", help_heading = "Week 3")]
    cache: Option<PathBuf>,
    /// Let a smaller model (folder or GGUF file) propose tokens, or `lookup`: the text so far
    #[arg(long, value_name = "MODEL", help_heading = "Week 3")]
    draft: Option<Draft>,
}

/// Who proposes tokens.
#[derive(Debug, Clone)]
pub enum Draft {
    /// The text so far.
    Lookup,
    /// Another model.
    Model(PathBuf),
}

impl FromStr for Draft {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text == "lookup" { Self::Lookup } else { Self::Model(text.into()) })
    }
}

impl ModelOption {
    /// The path that was named, or that of the embedded model.
    pub(super) fn path(&self) -> PathBuf {
        self.model.clone().unwrap_or_else(|| embedded("tiny-story"))
    }

    /// The same, with another embedded model where none was named.
    pub(super) fn or(mut self, path: PathBuf) -> Self {
        self.model.get_or_insert(path);
        self
    }

    /// The same for an engine that computes many requests at once, which stands on week 2's.
    ///
    /// # Errors
    /// If the options ask for what it does not have.
    pub(super) fn for_batch(mut self) -> Result<Self> {
        let problem = if self.engine.as_deref().is_some_and(|engine| engine != "direct") {
            "--engine: a graph runs one text at a time, expected none or direct"
        } else if self.backend.is_some() {
            "--backend: a graph runs one text at a time, expected none"
        } else if self.week == Some(1) {
            "--week 1: found week 1's engine, which computes one text at a time, expected none or 2"
        } else if self.no_cache {
            "--no-cache: requests that are computed together need the cache"
        } else {
            self.week = Some(2);
            return Ok(self);
        };
        Err(WrongOption(problem.to_owned()).into())
    }

    /// The same as week 4's graph on backends: those that are named, or the processor.
    ///
    /// # Errors
    /// If week 1's engine is asked for.
    pub(super) fn on_backends(mut self) -> Result<Self> {
        self.engine.get_or_insert_with(|| "graph".to_owned());
        self.backend.get_or_insert_with(|| "auto".to_owned());
        self.on_week_2()
    }

    /// The same on week 2's engine, which is what is drawn.
    ///
    /// # Errors
    /// If week 1's is asked for.
    pub(super) fn on_week_2(mut self) -> Result<Self> {
        if self.week == Some(1) {
            let problem = "--week 1: found week 1's engine, expected none or 2";
            return Err(WrongOption(problem.to_owned()).into());
        }
        self.week = Some(2);
        Ok(self)
    }

    /// The same with options that need week 2's engine and its cache.
    ///
    /// # Errors
    /// If the options ask for what is not there.
    pub(super) fn with_speed(mut self, options: SpeedOptions) -> Result<Self> {
        let option = match (&options.draft, &options.cache) {
            (None, None) => return Ok(self),
            (Some(_), _) => "--draft",
            (None, Some(_)) => "--cache",
        };
        let problem = if self.week == Some(1) {
            format!("--week 1: {option} needs week 2's engine, which keeps what it has computed")
        } else if self.no_cache {
            format!("--no-cache: {option} needs the cache")
        } else {
            self.week = Some(2);
            self.speed = options;
            return Ok(self);
        };
        Err(WrongOption(problem).into())
    }

    /// The same for answers that have a form, if an option asks for one.
    ///
    /// # Errors
    /// If a draft is asked for too, which would be proposed and verified without the form, or week
    /// 1's engine.
    pub(super) fn formed(mut self, form: Option<&str>) -> Result<Self> {
        let Some(option) = form else { return Ok(self) };
        let problem = if self.speed.draft.is_some() {
            format!("--draft: found with {option}, expected one of them: drafts know no form")
        } else if self.week == Some(1) {
            format!("--week 1: {option} needs week 2's engine")
        } else {
            self.week = Some(2);
            return Ok(self);
        };
        Err(WrongOption(problem).into())
    }

    /// The model that proposes tokens, if one does.
    pub(super) fn draft_model(&self) -> Option<&Path> {
        match &self.speed.draft {
            Some(Draft::Model(path)) => Some(path),
            Some(Draft::Lookup) | None => None,
        }
    }

    /// Loads it.
    pub(super) fn load(&self, solution: &Solution) -> Result<Box<dyn Model>> {
        (solution.load)(&self.path(), &self.options())
    }

    /// Loads it to run on this rung.
    pub(super) fn load_on(&self, solution: &Solution, rung: &str) -> Result<Box<dyn Model>> {
        let kernels = Some(rung.to_owned());
        (solution.load)(&self.path(), &LoadOptions { kernels, ..self.options() })
    }

    /// How it is run.
    pub(super) fn options(&self) -> LoadOptions {
        LoadOptions {
            week: self.week,
            threads: self.threads,
            context: self.context,
            kernels: self.kernels.clone(),
            attention: self.attention.clone(),
            cache_type: self.cache_type.clone(),
            no_cache: self.no_cache,
            engine: self.engine.clone(),
            backend: self.backend.clone(),
            draft: self.speed.draft.clone(),
            cache_file: self.speed.cache.clone(),
        }
    }
}

/// A path in the folder of the embedded models: `models` in the repository that this was built
/// from, unless the environment says otherwise.
pub(super) fn embedded(name: &str) -> PathBuf {
    let models = std::env::var_os("TINY_LLM_MODELS").map(PathBuf::from);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    models.unwrap_or_else(|| here.parent().unwrap_or(here).join("models")).join(name)
}

/// How tokens are chosen.
#[derive(clap::Args)]
pub(super) struct SamplingOptions {
    /// Divides the logits; 0 always takes the most probable token
    #[arg(long, value_name = "T", default_value_t = SamplerOptions::greedy().temperature, value_parser = temperature, allow_negative_numbers = true)]
    temperature: f32,
    /// Draw from the K most probable tokens; 0 is off
    #[arg(long, value_name = "K", default_value_t = SamplerOptions::greedy().top_k, value_parser = count, allow_negative_numbers = true)]
    top_k: usize,
    /// Draw from the most probable tokens that together have probability P; 1 is off
    #[arg(long, value_name = "P", default_value_t = SamplerOptions::greedy().top_p, value_parser = top_p, allow_negative_numbers = true)]
    top_p: f32,
    /// Draw from tokens at least P times as probable as the most probable one; 0 is off
    #[arg(long, value_name = "P", default_value_t = SamplerOptions::greedy().min_p, value_parser = min_p, allow_negative_numbers = true)]
    min_p: f32,
    /// Makes tokens that occurred before less likely; 1 is off
    #[arg(long, value_name = "X", default_value_t = SamplerOptions::greedy().repetition_penalty, value_parser = penalty, allow_negative_numbers = true)]
    repeat_penalty: f32,
    /// Of the random generator: the same seed gives the same text
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed, allow_negative_numbers = true)]
    pub(super) seed: u64,
}

impl SamplingOptions {
    pub(super) fn sampling(&self) -> SamplerOptions {
        SamplerOptions {
            temperature: self.temperature,
            top_k: self.top_k,
            top_p: self.top_p,
            min_p: self.min_p,
            repetition_penalty: self.repeat_penalty,
        }
    }
}

/// A whole number.
pub(super) fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a whole number from 0 on".to_owned())
}

/// A whole number above 0.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    count(text)
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| "expected a whole number from 1 on".to_owned())
}

/// More threads than any machine here has cores; a system may refuse to start so many.
const MAX_THREADS: usize = 1024;

/// A number of threads.
pub(super) fn threads(text: &str) -> Result<usize, String> {
    count(text)
        .ok()
        .filter(|n| (1..=MAX_THREADS).contains(n))
        .ok_or_else(|| format!("expected a whole number from 1 to {MAX_THREADS}"))
}

/// Any whole number of 64 bits.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

pub(super) fn temperature(text: &str) -> Result<f32, String> {
    within(Limit::TEMPERATURE, text)
}

fn top_p(text: &str) -> Result<f32, String> {
    within(Limit::TOP_P, text)
}

fn min_p(text: &str) -> Result<f32, String> {
    within(Limit::MIN_P, text)
}

fn penalty(text: &str) -> Result<f32, String> {
    within(Limit::REPETITION_PENALTY, text)
}

fn within(limit: Limit, text: &str) -> Result<f32, String> {
    let number = text.parse().ok().filter(|&x| limit.allows(x));
    number.ok_or_else(|| format!("expected {}", limit.expected))
}

/// Help goes to standard output. A wrong option gets one line, where clap would print several.
pub(super) fn explain(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // A reader that has gone away is no reason to complain.
        let _ = output::Output::new().print(text.trim_end());
        return ExitCode::SUCCESS;
    }
    let problem = match error.kind() {
        // clap's answer to no arguments at all is the whole help.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "error: a command is missing",
        // What follows the first empty line is the usage.
        _ => text.split("\n\n").next().unwrap_or(&text),
    };
    output::note(&format!("{}; see --help", output::one_line(problem)));
    ExitCode::from(2)
}
