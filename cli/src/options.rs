//! Options that several commands share, and checks of their values.

use std::{
    error::Error,
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    process::ExitCode,
    str::FromStr,
};

use anyhow::Result;
use clap::{
    builder::{OsStringValueParser, TypedValueParser},
    error::ErrorKind,
};

use super::{LoadOptions, Model, Solution, WrongOption, output};
use tiny_llm_formats::{
    hub,
    request::{Limit, SamplerOptions},
};

/// Selects the model and how to run it.
#[derive(clap::Args, Clone)]
pub(super) struct ModelOption {
    /// Folder, GGUF file or name [default: the embedded model, models/tiny-story]
    #[arg(long, value_name = "MODEL", value_parser = located())]
    model: Option<Located>,
    /// Engine of week 1 or of week 2 [default: 1 for a folder, 2 for a GGUF file]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2))]
    week: Option<u8>,
    /// Number of threads [default: one per physical core]
    #[arg(short = 'j', long, value_name = "N", value_parser = threads, help_heading = "Week 2's engine")]
    threads: Option<usize>,
    /// Maximum tokens of prompt plus answer [default: the model's maximum, up to 4096]
    #[arg(short = 'c', long, value_name = "N", value_parser = at_least_one, help_heading = "Week 2's engine")]
    context: Option<usize>,
    /// Set of kernels [default: the fastest implemented set that this processor supports]
    #[arg(long, value_name = "RUNG", help_heading = "Week 2's engine")]
    kernels: Option<String>,
    /// Attention algorithm: two-pass or streaming [default: streaming]
    #[arg(long, value_name = "KIND", help_heading = "Week 2's engine")]
    attention: Option<String>,
    /// Element type of the KV cache: f32, f16 or q8_0 [default: f16]
    #[arg(long, value_name = "TYPE", help_heading = "Week 2's engine")]
    cache_type: Option<String>,
    /// How to run the model: direct, graph, or arena (graph in a shared buffer) [default: direct]
    #[arg(long, value_name = "ENGINE", help_heading = "Week 4")]
    engine: Option<String>,
    /// Graph backend: cpu, gpu, auto, or twin:OP,… (cpu, and a second CPU without these ops)
    #[arg(long, value_name = "BACKEND", help_heading = "Week 4")]
    backend: Option<String>,
    /// Do not use a KV cache: recompute every position for every token
    #[arg(long, help_heading = "Week 2's engine")]
    no_cache: bool,
    /// Copy the weights into memory, in the layout that the kernels read fastest
    #[arg(long, help_heading = "Week 2's engine")]
    repack: bool,
    #[arg(skip)]
    speed: SpeedOptions,
}

/// Options that speed up an answer without changing it.
#[derive(clap::Args, Clone, Default)]
pub(super) struct SpeedOptions {
    /// File that stores the prompt's keys and values, for reuse by later runs
    #[arg(long, value_name = "FILE", help_heading = "Week 3")]
    cache: Option<PathBuf>,
    /// Draft model (folder, GGUF file or name), or `lookup` (copies from earlier text)
    #[arg(long, value_name = "MODEL", help_heading = "Week 3")]
    draft: Option<Draft>,
}

/// The source of drafts: proposed tokens, which the model verifies.
#[derive(Debug, Clone)]
pub enum Draft {
    /// Copies tokens from the text so far.
    Lookup,
    /// Another model, at this path.
    Model(PathBuf),
}

impl FromStr for Draft {
    type Err = Absent;

    fn from_str(text: &str) -> Result<Self, Absent> {
        if text == "lookup" {
            return Ok(Self::Lookup);
        }
        Located::of(text.into()).map(|model| Self::Model(model.path))
    }
}

/// A model on the command line: a path, or a name in the cache of Hugging Face's tools. [`located`]
/// parses it. ([`Draft`] parses `--draft`, which also accepts `lookup`.)
#[derive(Debug, Clone)]
pub(super) struct Located {
    given: PathBuf,
    /// Path of the model's folder or file.
    pub(super) path: PathBuf,
}

impl Located {
    fn of(given: PathBuf) -> Result<Self, Absent> {
        let path = hub::locate(&given).map_err(|e| Absent(e.to_string()))?;
        Ok(Self { given, path })
    }

    fn at(path: PathBuf) -> Self {
        Self { given: path.clone(), path }
    }

    /// For a model that was given by its name in the cache, returns that name. For a path, returns
    /// the last part, without a file's extension.
    fn name(&self) -> String {
        if self.given != self.path {
            return self.given.to_string_lossy().into();
        }
        // A file in Hugging Face's cache is a link to a file that is named by its hash.
        let name = if self.path.is_file() {
            self.path.file_stem().map(Into::into)
        } else {
            let folder = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
            folder.file_name().map(OsString::from)
        };
        name.map_or_else(|| "model".to_owned(), |name| name.to_string_lossy().into())
    }
}

/// Returns the parser of a [`Located`].
pub(super) fn located() -> impl TypedValueParser<Value = Located> {
    OsStringValueParser::new().try_map(|text| Located::of(text.into()))
}

/// An error message for a model that cannot be found. The option itself is valid, so the exit code
/// is 1.
#[derive(Debug)]
pub struct Absent(String);

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Absent {}

/// Returns the [`Absent`] that caused `error`. Returns `None` if the cause is not a model that
/// cannot be found.
pub(super) fn absent(error: &clap::Error) -> Option<&Absent> {
    error.source()?.downcast_ref()
}

impl ModelOption {
    /// Returns the path of the model that the command line names, or else of the embedded model.
    pub(super) fn path(&self) -> PathBuf {
        self.model.as_ref().map_or_else(|| embedded("tiny-story"), |model| model.path.clone())
    }

    /// Returns the name under which a server's clients see the model.
    pub(super) fn name(&self) -> String {
        match &self.model {
            Some(model) => model.name(),
            None => Located::at(embedded("tiny-story")).name(),
        }
    }

    /// If the command line names no model, selects the one at `path`.
    pub(super) fn or(mut self, path: PathBuf) -> Self {
        self.model.get_or_insert_with(|| Located::at(path));
        self
    }

    /// Checks that these options suit a batch. Selects week 2's engine: it loads the model, and
    /// then week 3's engine runs the batches.
    ///
    /// # Errors
    /// If a batch does not support one of the options.
    pub(super) fn for_batch(mut self) -> Result<Self> {
        let problem = if self.engine.as_deref().is_some_and(|engine| engine != "direct") {
            "--engine: a graph runs one text at a time; omit --engine, or use --engine direct"
        } else if self.backend.is_some() {
            "--backend: backends run graphs, and a graph runs one text at a time; omit --backend"
        } else if self.week == Some(1) {
            "--week 1: week 1's engine runs one text at a time; omit --week, or use --week 2"
        } else if self.no_cache {
            "--no-cache: a batch needs the cache; omit --no-cache"
        } else {
            self.week = Some(2);
            return Ok(self);
        };
        Err(WrongOption(problem.to_owned()).into())
    }

    /// Selects week 4's graph, on the given backend, or on `auto` if none is given.
    ///
    /// # Errors
    /// If the options select week 1's engine.
    pub(super) fn on_backends(mut self) -> Result<Self> {
        self.engine.get_or_insert_with(|| "graph".to_owned());
        self.backend.get_or_insert_with(|| "auto".to_owned());
        self.on_week_2()
    }

    /// Selects week 2's engine.
    ///
    /// # Errors
    /// If the options select week 1's engine.
    pub(super) fn on_week_2(mut self) -> Result<Self> {
        if self.week == Some(1) {
            let problem =
                "--week 1: this command needs week 2's engine; omit --week, or use --week 2";
            return Err(WrongOption(problem.to_owned()).into());
        }
        self.week = Some(2);
        Ok(self)
    }

    /// Adds the options `--draft` and `--cache`, which need week 2's engine and its cache.
    ///
    /// # Errors
    /// If one of these options is given, and the other options select week 1's engine or no cache.
    pub(super) fn with_speed(mut self, options: SpeedOptions) -> Result<Self> {
        let option = match (&options.draft, &options.cache) {
            (None, None) => return Ok(self),
            (Some(_), _) => "--draft",
            (None, Some(_)) => "--cache",
        };
        let problem = if self.week == Some(1) {
            format!("--week 1: {option} needs week 2's engine; omit --week, or use --week 2")
        } else if self.no_cache {
            format!("--no-cache: {option} needs the cache; omit --no-cache")
        } else {
            self.week = Some(2);
            self.speed = options;
            return Ok(self);
        };
        Err(WrongOption(problem).into())
    }

    /// `form` is the name of the option that constrains the answers, if one is given. If it is,
    /// checks that the other options allow it, and selects week 2's engine.
    ///
    /// # Errors
    /// If `form` is given and the other options select week 1's engine, or drafts, which would
    /// ignore the constraint.
    pub(super) fn formed(mut self, form: Option<&str>) -> Result<Self> {
        let Some(option) = form else { return Ok(self) };
        let problem = if self.speed.draft.is_some() {
            format!("--draft: cannot be combined with {option}, because drafts ignore constraints")
        } else if self.week == Some(1) {
            format!("--week 1: {option} needs week 2's engine; omit --week, or use --week 2")
        } else {
            self.week = Some(2);
            return Ok(self);
        };
        Err(WrongOption(problem).into())
    }

    /// Returns the path of the draft model, if there is one.
    pub(super) fn draft_model(&self) -> Option<&Path> {
        match &self.speed.draft {
            Some(Draft::Model(path)) => Some(path),
            Some(Draft::Lookup) | None => None,
        }
    }

    pub(super) fn load(&self, solution: &Solution) -> Result<Box<dyn Model>> {
        (solution.load)(&self.path(), &self.options())
    }

    /// Loads the model to run it with the kernels of `rung` (one set of kernels).
    pub(super) fn load_on(&self, solution: &Solution, rung: &str) -> Result<Box<dyn Model>> {
        let kernels = Some(rung.to_owned());
        (solution.load)(&self.path(), &LoadOptions { kernels, ..self.options() })
    }

    /// Returns the options for [`Solution::load`].
    pub(super) fn options(&self) -> LoadOptions {
        LoadOptions {
            week: self.week,
            threads: self.threads,
            context: self.context,
            kernels: self.kernels.clone(),
            attention: self.attention.clone(),
            cache_type: self.cache_type.clone(),
            no_cache: self.no_cache,
            repack: self.repack,
            engine: self.engine.clone(),
            backend: self.backend.clone(),
            draft: self.speed.draft.clone(),
            cache_file: self.speed.cache.clone(),
        }
    }
}

/// Returns the path of the embedded model `name`. Its folder is `$TINY_LLM_MODELS` if that is set,
/// otherwise `models` in the repository from which this program was built.
pub(super) fn embedded(name: &str) -> PathBuf {
    let models = std::env::var_os("TINY_LLM_MODELS").map(PathBuf::from);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    models.unwrap_or_else(|| here.parent().unwrap_or(here).join("models")).join(name)
}

/// How tokens are sampled.
#[derive(clap::Args)]
pub(super) struct SamplingOptions {
    /// Temperature: divide the logits by T (0: always take the most probable token)
    #[arg(long, value_name = "T", default_value_t = SamplerOptions::greedy().temperature, value_parser = within(Limit::TEMPERATURE), allow_negative_numbers = true)]
    temperature: f32,
    /// Sample from the K most probable tokens (0: off)
    #[arg(long, value_name = "K", default_value_t = SamplerOptions::greedy().top_k, value_parser = count, allow_negative_numbers = true)]
    top_k: usize,
    /// Sample from the most probable tokens whose probabilities add up to P (1: off)
    #[arg(long, value_name = "P", default_value_t = SamplerOptions::greedy().top_p, value_parser = within(Limit::TOP_P), allow_negative_numbers = true)]
    top_p: f32,
    /// Ignore tokens with a probability below P × the highest probability (0: off)
    #[arg(long, value_name = "P", default_value_t = SamplerOptions::greedy().min_p, value_parser = within(Limit::MIN_P), allow_negative_numbers = true)]
    min_p: f32,
    /// Repetition penalty for tokens that have already occurred (1: off)
    #[arg(long, value_name = "X", default_value_t = SamplerOptions::greedy().repetition_penalty, value_parser = within(Limit::REPETITION_PENALTY), allow_negative_numbers = true)]
    repeat_penalty: f32,
    /// Random seed (the same seed gives the same text)
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

/// Parses a whole number.
pub(super) fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a whole number of at least 0".to_owned())
}

/// Parses a whole number above 0.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    count(text)
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| "expected a whole number of at least 1".to_owned())
}

/// Maximum number of threads. No supported machine has that many cores. The system may refuse to
/// start that many threads.
const MAX_THREADS: usize = 1024;

pub(super) fn threads(text: &str) -> Result<usize, String> {
    up_to::<MAX_THREADS>(text)
}

/// Parses a whole number from 1 to `MOST`.
pub(super) fn up_to<const MOST: usize>(text: &str) -> Result<usize, String> {
    count(text)
        .ok()
        .filter(|n| (1..=MOST).contains(n))
        .ok_or_else(|| format!("expected a whole number from 1 to {MOST}"))
}

/// Parses a whole number from 0 to 2⁶⁴ − 1.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

/// Returns the parser of a number that `limit` allows.
pub(super) fn within(limit: Limit) -> impl Fn(&str) -> Result<f32, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|&x| limit.allows(x));
        number.ok_or_else(|| format!("expected {}", limit.expected))
    }
}

/// Prints the help or the version to standard output. For a wrong option, prints one line to
/// standard error, where clap would print several.
pub(super) fn explain(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // A closed standard output is not an error here.
        let _ = output::Output::new().print(text.trim_end());
        return ExitCode::SUCCESS;
    }
    if let Some(absent) = absent(error) {
        output::note(&output::failure(&absent.to_string()));
        return ExitCode::FAILURE;
    }
    let problem = match error.kind() {
        // If arguments are missing, clap returns the whole help.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "error: a command is missing",
        // The usage comes after the first empty line.
        _ => text.split("\n\n").next().unwrap_or(&text),
    };
    output::note(&format!("{}; see --help", output::one_line(problem)));
    ExitCode::from(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_the_given_name_or_the_end_of_the_path() {
        assert_eq!(Located::at(embedded("tiny-story")).name(), "tiny-story");
        let file = tempfile::NamedTempFile::with_suffix(".gguf").unwrap();
        let stem = file.path().file_stem().unwrap();
        assert_eq!(*Located::at(file.path().to_owned()).name(), *stem);
        let (given, path) = ("some/story:Q8_0".into(), file.path().to_owned());
        assert_eq!(Located { given, path }.name(), "some/story:Q8_0");
        #[cfg(unix)]
        {
            let folder = tempfile::tempdir().unwrap();
            let link = folder.path().join("story-q4_0.gguf");
            std::os::unix::fs::symlink(file.path(), &link).unwrap();
            assert_eq!(Located::at(link).name(), "story-q4_0");
        }
    }
}
