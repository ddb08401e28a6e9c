//! `bench`: load time, speed and memory of a model.

use std::{
    ops::ControlFlow,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use tiny_llm_formats::{FinishReason, request::Request};

use super::{
    About, Model, Solution, interrupt,
    memory::{Memory, mib},
    options::{ModelOption, at_least_one},
    output::Output,
    panics,
    session::check,
    speed::{Speed, Stopwatch},
    weights,
};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    model: ModelOption,
    /// Number of prompt tokens (their ids are arbitrary)
    #[arg(long, value_name = "N", default_value = "64", value_parser = at_least_one, allow_negative_numbers = true)]
    prompt_tokens: usize,
    /// Number of new tokens
    #[arg(short = 'n', long, value_name = "N", default_value = "16", value_parser = at_least_one, allow_negative_numbers = true)]
    max_new_tokens: usize,
    /// Number of runs (the fastest is reported)
    #[arg(long, value_name = "N", default_value = "1", value_parser = at_least_one, allow_negative_numbers = true)]
    repeat: usize,
    /// Also measure memory bandwidth and the speed of the matrix units
    #[arg(long)]
    bandwidth: bool,
    /// Measure every set of kernels (see --kernels), slowest first
    #[arg(long, conflicts_with_all = ["kernels", "json", "bandwidth"])]
    ladder: bool,
    /// Print the results as a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(solution: &Solution, args: &Args) -> Result<ExitCode> {
    if args.ladder {
        return ladder(solution, args);
    }
    let folder = args.model.path();
    let start = Instant::now();
    let mut model = args.model.load(solution)?;
    let load = start.elapsed();
    let loaded = Memory::now();

    let Some(speed) = fastest(model.as_mut(), args)? else {
        return Ok(interrupt::exit_code(true));
    };
    let (config, about) = (model.config(), model.about());
    let bandwidth = args.bandwidth.then(|| (solution.bandwidth)(about.threads));
    let units =
        (args.bandwidth && about.matrix_units).then(|| (solution.matrix_units)(about.threads));
    let report = Report {
        model: folder.display().to_string(),
        parameters: weights::parameters(config),
        file_bytes: if folder.is_file() {
            size_of_file(&folder)?
        } else {
            checkpoint_bytes(&folder)?
        },
        about,
        operations: weights::operations(config),
        load,
        speed,
        loaded,
        end: Memory::now(),
        bandwidth,
        units: units.flatten(),
    };
    Output::new().print(&if args.json { report.json() } else { report.text() })?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a line for each rung (one set of kernels) as soon as that rung is measured. If a rung
/// needs an unwritten task, the line names the task.
fn ladder(solution: &Solution, args: &Args) -> Result<ExitCode> {
    let print = |line: &str| Output::new().print(line);
    print(&format!("{:12} {:>18} {:>18}  engine", "rung", "prefill", "decode"))?;
    for rung in (solution.rungs)() {
        let measured = panics::caught(|| -> Result<Option<(Speed, String)>> {
            let mut model = args.model.load_on(solution, rung)?;
            Ok(fastest(model.as_mut(), args)?.map(|speed| (speed, model.about().described)))
        });
        let line = match measured {
            Ok(measured) => {
                let Some((speed, described)) = measured? else {
                    return Ok(interrupt::exit_code(true));
                };
                let prefill = format!("{:.1} tokens/s", speed.prefill_rate());
                let rate = |rate| format!("{rate:.1} tokens/s");
                let decode = speed.decode_rate().map_or_else(|| "none".to_owned(), rate);
                format!("{rung:12} {prefill:>18} {decode:>18}  {described}")
            }
            Err(panic) => format!("{rung:12} {:>18} {:>18}  {panic}", "-", "-"),
        };
        print(&line)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures as many generations as `--repeat` says. Returns the speed of the fastest generation, or
/// `None` if Ctrl-C ended one.
fn fastest(model: &mut dyn Model, args: &Args) -> Result<Option<Speed>> {
    let config = model.config();
    let vocab_size = config.vocab_size;
    // The ids can be arbitrary, because every token costs the same. The stride spreads them over
    // the vocabulary.
    let prompt: Vec<u32> =
        (0..args.prompt_tokens).map(|i| (i * 7919 % vocab_size) as u32).collect();
    check(model, &prompt)?;
    let room = config.max_positions - prompt.len();
    ensure!(
        args.max_new_tokens <= room,
        "-n: found {}, expected at most {room}: the context has no room for more after the prompt",
        args.max_new_tokens
    );
    let request = Request::greedy(prompt, args.max_new_tokens);

    let mut fastest: Option<Speed> = None;
    for _ in 0..args.repeat {
        model.clear_cache();
        let Some(speed) = measure(model, &request)? else { return Ok(None) };
        let time = |s: &Speed| s.prefill + s.decode;
        fastest = fastest.filter(|best| time(best) <= time(&speed)).or(Some(speed));
    }
    fastest.context("nothing was measured").map(Some)
}

/// Measures one generation. Returns `None` if Ctrl-C ended it.
fn measure(model: &mut dyn Model, request: &Request) -> Result<Option<Speed>> {
    let caught = interrupt::Caught::new();
    let mut stopwatch = Stopwatch::start(request.prompt.len());
    let finish = model.generate(request, None, &mut |_| {
        stopwatch.token();
        if caught.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok((finish != FinishReason::Interrupted).then(|| stopwatch.stop()))
}

/// Returns the size of a file in bytes. Follows links, because the Hugging Face cache uses them.
fn size_of_file(path: &Path) -> Result<u64> {
    Ok(std::fs::metadata(path)
        .with_context(|| format!("{}: cannot be read", path.display()))?
        .len())
}

/// Returns the total size of the folder's safetensors files.
fn checkpoint_bytes(folder: &Path) -> Result<u64> {
    let unreadable = || format!("{}: cannot be read", folder.display());
    let mut bytes = 0;
    for file in std::fs::read_dir(folder).with_context(unreadable)? {
        let path = file.with_context(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "safetensors") {
            bytes += size_of_file(&path)?;
        }
    }
    Ok(bytes)
}

struct Report {
    model: String,
    parameters: usize,
    file_bytes: u64,
    about: About,
    operations: u64,
    /// Memory bandwidth in bytes per second, if measured.
    bandwidth: Option<f64>,
    /// Operations per second of the matrix units, if measured.
    units: Option<f64>,
    load: Duration,
    speed: Speed,
    loaded: Option<Memory>,
    end: Option<Memory>,
}

impl Report {
    /// Returns the fraction of the machine's bandwidth that decoding uses.
    fn share(&self) -> Option<f64> {
        Some(self.speed.decode_rate()? * self.about.weight_bytes as f64 / self.bandwidth?)
    }

    /// Returns the fraction of the matrix units' rate that prefill reaches. The time of prefill
    /// includes attention, but the number of operations does not.
    fn share_of_units(&self) -> Option<f64> {
        Some(self.speed.prefill_rate() * self.operations as f64 / self.units?)
    }

    fn text(&self) -> String {
        const NOT_MEASURED: &str = "not measured on this platform";
        let split =
            |m: Memory| format!("{} private, {} of mapped files", mib(m.own), mib(m.mapped));
        let loaded = self.loaded.map_or(NOT_MEASURED.to_owned(), split);
        let end = self.end.map_or(NOT_MEASURED.to_owned(), split);
        let peak = self.end.map_or(NOT_MEASURED.to_owned(), |m| mib(m.peak));
        let Self { model, parameters, speed, .. } = self;
        [
            format!("model      {model}, {parameters} parameters"),
            format!("files      {}", mib(self.file_bytes)),
            format!("weights    {} read per token", mib(self.about.weight_bytes)),
            format!("engine     {}", self.about.described),
            format!("load       {:.3} s", self.load.as_secs_f64()),
            format!("prefill    {}", speed.first_token_text()),
            format!("decode     {}", speed.decode_text()),
            format!("loaded     {loaded}"),
            format!("at the end {end}"),
            format!("peak       {peak} resident"),
        ]
        .into_iter()
        .chain(self.bandwidth.map(|bandwidth| {
            let share = self.share().map_or_else(String::new, |share| {
                format!(", of which decoding uses {:.0} %", 100.0 * share)
            });
            format!("bandwidth  {:.1} GB/s{share}", bandwidth / 1e9)
        }))
        .chain(self.units.zip(self.share_of_units()).map(|(units, share)| {
            format!(
                "units      {:.0} GOP/s, of which a prompt uses {:.0} %",
                units / 1e9,
                100.0 * share
            )
        }))
        .collect::<Vec<_>>()
        .join("\n")
    }

    fn json(&self) -> String {
        let memory = |m: Memory| json!({ "own": m.own, "mapped": m.mapped });
        json!({
            "model": self.model,
            "parameters": self.parameters,
            "file_bytes": self.file_bytes,
            "weight_bytes": self.about.weight_bytes,
            "weight_bytes_per_token": self.about.weight_bytes,
            "operations_per_token": self.operations,
            "engine": self.about.described,
            "threads": self.about.threads,
            "bandwidth_bytes_per_second": self.bandwidth,
            "bandwidth_share": self.share(),
            "matrix_unit_operations_per_second": self.units,
            "matrix_unit_share": self.share_of_units(),
            "decode_seconds": self.speed.decode.as_secs_f64(),
            "load_seconds": self.load.as_secs_f64(),
            "prompt_tokens": self.speed.prompt_tokens,
            "new_tokens": self.speed.new_tokens,
            "prefill_seconds": self.speed.prefill.as_secs_f64(),
            "prefill_tokens_per_second": self.speed.prefill_rate(),
            "decode_tokens_per_second": self.speed.decode_rate(),
            "memory_loaded_bytes": self.loaded.map(memory),
            "memory_end_bytes": self.end.map(memory),
            "memory_peak_bytes": self.end.map(|m| m.peak),
        })
        .to_string()
    }
}
