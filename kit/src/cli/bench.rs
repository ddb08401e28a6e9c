//! `bench`: load time, speed and memory of a model.

use std::{
    ops::ControlFlow,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::{
    Engine, FinishReason, Request, RunFacts, Sampling, interrupt,
    memory::{Memory, mib},
    options::{ModelOption, at_least_one},
    output::Output,
    speed::{Speed, Stopwatch},
    weights,
};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    model: ModelOption,
    /// Length of the prompt, whose tokens are arbitrary
    #[arg(long, value_name = "N", default_value = "64", value_parser = at_least_one, allow_negative_numbers = true)]
    prompt_tokens: usize,
    /// New tokens
    #[arg(short = 'n', long, value_name = "N", default_value = "16", value_parser = at_least_one, allow_negative_numbers = true)]
    max_new_tokens: usize,
    /// Generate so many times and report the fastest
    #[arg(long, value_name = "N", default_value = "1", value_parser = at_least_one, allow_negative_numbers = true)]
    repeat: usize,
    /// Also measure how fast this machine reads memory, which takes half a GiB and a second
    #[arg(long)]
    bandwidth: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run<E: Engine>(args: &Args) -> Result<ExitCode> {
    let path = args.model.path();
    let start = Instant::now();
    let engine: E = args.model.load()?;
    let load = start.elapsed();
    let loaded = Memory::now();

    let config = engine.config();
    let vocab_size = config.vocab_size;
    // Every id is as good as another: no token is cheaper than the next. The stride spreads them over the vocabulary.
    let prompt: Vec<u32> = (0..args.prompt_tokens).map(|i| (i * 7919 % vocab_size) as u32).collect();
    engine.check(&prompt)?;
    let room = config.max_positions - prompt.len();
    ensure!(args.max_new_tokens <= room, "found -n {}, expected at most {room} after this prompt", args.max_new_tokens);
    let request = Request { prompt, max_new_tokens: args.max_new_tokens, stop_tokens: Vec::new(), sampling: Sampling::greedy() };

    let mut fastest: Option<Speed> = None;
    for _ in 0..args.repeat {
        engine.forget();
        let Some(speed) = measure(&engine, &request)? else { return Ok(interrupt::exit_code(true)) };
        let time = |s: &Speed| s.prefill + s.decode;
        fastest = fastest.filter(|best| time(best) <= time(&speed)).or(Some(speed));
    }
    let speed = fastest.context("nothing was measured")?;
    let report = Report {
        model: path.display().to_string(),
        parameters: weights::parameters(config),
        file_bytes: file_bytes(&path)?,
        run: engine.run(),
        load,
        speed,
        loaded,
        end: Memory::now(),
        // Last: its half GiB is not the engine's.
        bandwidth: if args.bandwidth { engine.bandwidth() } else { None },
    };
    Output::new().print(&if args.json { report.json() } else { report.text() })?;
    Ok(ExitCode::SUCCESS)
}

/// `None` if Ctrl-C ended it.
fn measure<E: Engine>(engine: &E, request: &Request) -> Result<Option<Speed>> {
    let caught = interrupt::Caught::new();
    let mut stopwatch = Stopwatch::start(request.prompt.len());
    let finish = engine.generate(request, &mut |_| {
        stopwatch.token();
        if caught.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok((finish != FinishReason::Interrupted).then(|| stopwatch.stop()))
}

/// The size of a GGUF file, or of a folder's safetensors files.
fn file_bytes(folder: &Path) -> Result<u64> {
    let unreadable = || format!("{}: cannot be read", folder.display());
    if folder.is_file() {
        return Ok(std::fs::metadata(folder).with_context(unreadable)?.len());
    }
    let mut bytes = 0;
    for file in std::fs::read_dir(folder).with_context(unreadable)? {
        let path = file.with_context(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "safetensors") {
            // The file that a link leads to: the hub's cache is made of links.
            bytes += std::fs::metadata(&path).with_context(unreadable)?.len();
        }
    }
    Ok(bytes)
}

struct Report {
    model: String,
    parameters: usize,
    file_bytes: u64,
    run: Option<RunFacts>,
    load: Duration,
    speed: Speed,
    loaded: Option<Memory>,
    end: Option<Memory>,
    /// Bytes per second.
    bandwidth: Option<f64>,
}

impl Report {
    /// Week 1's weights, all in f32. Later weeks leave them as they are in the file.
    fn weight_bytes(&self) -> Option<u64> {
        self.run.is_none().then_some(4 * self.parameters as u64)
    }

    fn text(&self) -> String {
        const NOT_MEASURED: &str = "not measured on this platform";
        let split = |m: Memory| format!("{} of its own, {} of mapped files", mib(m.own), mib(m.mapped));
        let loaded = self.loaded.map_or(NOT_MEASURED.to_owned(), split);
        let end = self.end.map_or(NOT_MEASURED.to_owned(), split);
        let peak = self.end.map_or(NOT_MEASURED.to_owned(), |m| mib(m.peak));
        let Self { model, parameters, speed, .. } = self;
        let mut lines =
            vec![format!("model      {model}, {parameters} parameters"), format!("files      {}", mib(self.file_bytes))];
        match &self.run {
            None => lines.push(format!("weights    {} in f32", mib(4 * *parameters as u64))),
            Some(run) => {
                lines.push(format!("weights    {} are read for each token", mib(run.weight_bytes)));
                lines.push(format!("kernels    {}, threads: {}", run.kernels, run.threads));
            }
        }
        lines.extend([
            format!("load       {:.3} s", self.load.as_secs_f64()),
            format!("prefill    {}, first token after {:.3} s", speed.prefill_text(), speed.prefill.as_secs_f64()),
            format!("decode     {}{}", speed.decode_text(), self.share_text()),
            format!("loaded     {loaded}"),
            format!("at the end {end}"),
            format!("peak       {peak} resident"),
        ]);
        lines.join("\n")
    }

    /// `, 71 % of the 33.0 GB/s that this machine's memory gives`
    fn share_text(&self) -> String {
        let known = self.run.as_ref().zip(self.bandwidth).zip(self.speed.decode_rate());
        known.map_or_else(String::new, |((run, bandwidth), rate)| {
            let share = 100.0 * rate * run.weight_bytes as f64 / bandwidth;
            format!(", {share:.0} % of the {:.1} GB/s that this machine's memory gives", bandwidth / 1e9)
        })
    }

    fn json(&self) -> String {
        let memory = |m: Memory| json!({ "own": m.own, "mapped": m.mapped });
        json!({
            "model": self.model,
            "parameters": self.parameters,
            "file_bytes": self.file_bytes,
            "weight_bytes": self.weight_bytes(),
            "weight_bytes_per_token": self.run.as_ref().map(|run| run.weight_bytes),
            "operations_per_token": self.run.as_ref().map(|run| run.operations),
            "kernels": self.run.as_ref().map(|run| &run.kernels),
            "threads": self.run.as_ref().map(|run| run.threads),
            "bandwidth_bytes_per_second": self.bandwidth,
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
