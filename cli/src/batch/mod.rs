//! `batch`: answers a file of requests, many at a time.

mod answers;
mod line;
mod view;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Instant,
};

use anyhow::{Result, anyhow, ensure};
use serde_json::{Value, json};

use super::{
    Batch, BatchOptions, BatchWaits, PageCounts, Solution, Text,
    form::{self, FormOptions},
    interrupt::{self, Caught},
    options::{ModelOption, SamplingOptions, count},
    output::{bounded, note, one_line},
    session::OpenedBatch,
    template::Template,
};
use answers::Answers;
use line::{Defaults, Line, Prompt};
use tiny_llm_formats::{
    FinishReason,
    request::{Event, Extras, Request},
    text::Tokenizer,
};
use view::View;

#[derive(clap::Args)]
#[command(after_help = "Each line of REQUESTS is a JSON object with one of these fields:\n\
    \x20 \"prompt\"     a text to continue\n\
    \x20 \"messages\"   a conversation, for example [{\"role\": \"user\", \"content\": \"Hello\"}]\n\
    Optional fields, as in OpenAI's API: \"max_tokens\", \"temperature\", \"top_p\", \"stop\", \"seed\"\n\
    and \"response_format\". Empty lines are ignored.\n\n\
    The output has one line per request, in the order of the requests. Each line is a JSON\n\
    object with the fields \"index\", \"text\", \"finish_reason\" and \"usage\". For an invalid\n\
    request, the fields are \"index\" and \"error\".\n\
    If the command is interrupted, run it again to continue where it stopped.\n\n\
    If --gap is above 0, a second limit applies to each step with prompts: 2 × the time of a\n\
    step in which every slot decodes. The value of --gap does not change this second limit.\n\n\
    Exit codes: 0 (success), 1 (error or invalid request), 2 (invalid option),\n\
    101 (a task of the course is not solved yet), 130 (interrupted by Ctrl-C).")]
pub(super) struct Args {
    /// File of requests, one JSON object per line
    #[arg(value_name = "REQUESTS")]
    requests: PathBuf,
    #[command(flatten)]
    model: ModelOption,
    /// File to write the answers to
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    batch: BatchOptions,
    /// Maximum new tokens for requests without max_tokens
    #[arg(short = 'n', long, value_name = "N", default_value = "128", value_parser = count, allow_negative_numbers = true)]
    max_new_tokens: usize,
    #[command(flatten)]
    sampling: SamplingOptions,
    #[command(flatten)]
    form: FormOptions,
    /// Show the batch slots in the terminal while the batch runs
    #[arg(long)]
    watch: bool,
    /// Do not print the summary
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(solution: &Solution, args: Args) -> Result<ExitCode> {
    let form = args.form.form()?.map(|(form, _)| form);
    let file = read(&args.requests)?;
    let lines = split(&file);
    ensure!(
        !lines.is_empty(),
        "{}: found no JSON, expected one object per line",
        args.requests.display()
    );
    let answers = Answers::open(&args.out)?;
    ensure!(
        answers.written() <= lines.len(),
        "{out}: found {} answers, expected at most {}, one for each request in {}; to start over, \
         remove {out}",
        answers.written(),
        lines.len(),
        args.requests.display(),
        out = args.out.display()
    );
    let (from, total) = (answers.written(), lines.len());
    if from == total {
        note(&format!("nothing to do: found answers for {total} of {total} requests"));
        return Ok(ExitCode::SUCCESS);
    }
    let model = args.model.for_batch()?;
    let (max_batch, watch) = (args.batch.max_batch, args.watch);
    let opened = OpenedBatch::open(solution, &model, args.batch)?;
    let OpenedBatch { batch, tokenizer, template, stop_tokens, described, vocabulary, .. } = opened;
    let mut run = Run {
        batch,
        text: solution.text,
        tokenizer,
        template,
        stop_tokens,
        vocabulary: Some(vocabulary),
        defaults: Defaults {
            max_tokens: args.max_new_tokens,
            sampling: args.sampling.sampling(),
            seed: args.sampling.seed,
            form,
        },
        name: args.requests.display().to_string(),
        view: View::new(total, if watch { max_batch } else { 0 }),
        open: BTreeMap::new(),
        answers,
        refused: 0,
        prompt_tokens: 0,
        new_tokens: 0,
    };
    let start = Instant::now();
    let finished = run.all(&lines[from..], from, 2 * max_batch);
    run.view.clear();
    let finished = finished?;
    if !args.quiet {
        if from > 0 {
            note(&format!("continued after answer {from} of {total}"));
        }
        note(&format!("engine   {described}"));
        note(&run.summary(start.elapsed().as_secs_f64()));
        if let Some(waits) = run.batch.waits() {
            note(&described_waits(&waits));
        }
    }
    if !finished {
        let written = run.answers.written();
        note(&format!(
            "stopped after {written} of {total} requests; run the same command again to continue"
        ));
        return Ok(interrupt::exit_code(true));
    }
    Ok(if run.refused > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| anyhow!("{}: cannot be read: {e}", path.display()))
}

/// Returns the lines of `file` that are not empty, each with its line number, counted from 1.
fn split(file: &[u8]) -> Vec<(usize, &[u8])> {
    let lines = (1..).zip(file.split(|&byte| byte == b'\n'));
    lines.filter(|(_, line)| !line.trim_ascii().is_empty()).collect()
}

/// A request whose answer is incomplete.
struct Open {
    index: usize,
    /// Line number in the file, counted from 1.
    line: usize,
    stop: Vec<String>,
    prompt_tokens: usize,
    new_tokens: usize,
    stream: Box<dyn Text>,
    text: String,
}

struct Run {
    batch: Box<dyn Batch>,
    text: fn() -> Box<dyn Text>,
    tokenizer: Arc<Tokenizer>,
    /// The chat template, or the reason why there is none. Only lines with `messages` need it.
    template: Result<Template>,
    stop_tokens: Vec<u32>,
    /// Size of the vocabulary, until the engine has received the tokens' texts. Then `None`.
    vocabulary: Option<usize>,
    defaults: Defaults,
    /// Name of the file of requests.
    name: String,
    view: View,
    /// Unfinished requests, by the engine's request number.
    open: BTreeMap<u64, Open>,
    answers: Answers,
    /// Number of lines that were answered with an error.
    refused: usize,
    prompt_tokens: usize,
    new_tokens: usize,
}

impl Run {
    /// Answers the requests in `lines`, pairs of line number and line. The first request has index
    /// `from`. At most `ahead` requests are in the engine at once. Returns false if Ctrl-C ended
    /// the run.
    fn all(&mut self, lines: &[(usize, &[u8])], from: usize, ahead: usize) -> Result<bool> {
        let caught = Caught::new();
        let mut lines = (from..).zip(lines);
        loop {
            while self.open.len() < ahead {
                let Some((index, &(number, line))) = lines.next() else { break };
                if let Err(error) = self.submit(line, index, number) {
                    let problem = bounded(&one_line(&format!("{error:#}")));
                    self.refuse(index, number, &problem)?;
                }
            }
            if self.open.is_empty() {
                return Ok(true);
            }
            if caught.requested() {
                return Ok(false);
            }
            self.step()?;
        }
    }

    /// Writes the error `problem` as the answer to request `index`, which is on line `line`.
    fn refuse(&mut self, index: usize, line: usize, problem: &str) -> Result<()> {
        note(&format!("{}:{line}: {problem}", self.name));
        self.refused += 1;
        self.answers.put(index, &[("error", json!({ "message": problem }))])
    }

    /// Parses `line` as request `index`, and submits it to the engine. `number` is its line number.
    fn submit(&mut self, line: &[u8], index: usize, number: usize) -> Result<()> {
        let Line { prompt, max_tokens, stop, sampling, seed, form } =
            Line::read(line, index, &self.defaults)?;
        if form.is_some()
            && let Some(vocabulary) = self.vocabulary.take()
        {
            self.batch.use_vocabulary(form::texts(&self.tokenizer, vocabulary));
        }
        let prompt = match prompt {
            Prompt::Text(text) => self.tokenizer.encode_prompt(&text)?,
            Prompt::Messages(messages) => match &self.template {
                Ok(template) => template.tokens(&messages, &self.tokenizer)?,
                Err(error) => anyhow::bail!("{error:#}"),
            },
        };
        let prompt_tokens = prompt.len();
        let request = Request {
            prompt,
            max_new_tokens: max_tokens,
            stop_tokens: self.stop_tokens.clone(),
            stop_texts: stop.iter().map(|text| text.clone().into_bytes()).collect(),
            sampling,
            seed,
        };
        let id = self.batch.submit(request, form.as_ref(), Extras::default())?;
        let open = Open {
            index,
            line: number,
            stop,
            prompt_tokens,
            new_tokens: 0,
            stream: (self.text)(),
            text: String::new(),
        };
        self.open.insert(id, open);
        Ok(())
    }

    /// Runs one forward pass, handles its events and updates the view.
    fn step(&mut self) -> Result<()> {
        let mut events = Vec::new();
        self.batch.step(&mut |event| events.push(event))?;
        for event in events {
            match event {
                Event::Token { id, token } => {
                    let open = self.open.get_mut(&id).expect("a request that was submitted");
                    open.new_tokens += 1;
                    let bytes = self.tokenizer.token_bytes(token);
                    open.text += &open.stream.push(&bytes);
                    self.new_tokens += 1;
                }
                Event::Finished { id, reason } => {
                    let open = self.open.remove(&id).expect("a request that was submitted");
                    self.prompt_tokens += open.prompt_tokens;
                    if reason == FinishReason::NotFinite {
                        let problem = "found logits that are NaN or infinite, expected finite ones";
                        self.refuse(open.index, open.line, problem)?;
                        continue;
                    }
                    self.answers.put(open.index, &answer(open, reason))?;
                }
            }
        }
        let (answered, counts) = (self.answers.known(), self.batch.counts());
        let line = |id| self.open.get(&id).map_or(0, |open| open.line);
        self.view.show(answered, self.new_tokens, counts, &self.batch.rows(), line);
        Ok(())
    }

    fn summary(&self, seconds: f64) -> String {
        let counts = self.batch.counts();
        let pages = counts.pages.map(|p| {
            let PageCounts { pages, page_len, most_used, preempted, found, .. } = p;
            let found = found.map(|(found, all)| {
                format!(
                    "\nprefixes {found} of {all} prompt tokens found in pages of other requests"
                )
            });
            let s = if preempted == 1 { "" } else { "s" };
            format!(
                "\npages    at most {most_used} of {pages} in use, {page_len} positions each; \
                 {preempted} preemption{s}{}",
                found.unwrap_or_default()
            )
        });
        let drafts = counts
            .drafts
            .map(|(accepted, drafted)| format!("\ndrafts   {accepted} of {drafted} accepted"));
        format!(
            "batch    {} prompt tokens and {} new ones, {:.1} new tokens/s; {} steps of {:.1} rows{}{}",
            self.prompt_tokens,
            self.new_tokens,
            self.new_tokens as f64 / seconds.max(1e-9),
            counts.steps,
            counts.rows as f64 / counts.steps.max(1) as f64,
            pages.unwrap_or_default(),
            drafts.unwrap_or_default(),
        )
    }
}

fn described_waits(waits: &BatchWaits) -> String {
    let BatchWaits { first_token_steps, first_token_rows, longest_gap_rows } = waits;
    let both = |[median, p99]: &[u64; 2]| format!("{median} (p99 {p99})");
    format!(
        "waits    first token after {} steps, {} rows; longest gap {} rows",
        both(first_token_steps),
        both(first_token_rows),
        both(longest_gap_rows)
    )
}

/// Returns the fields of a finished answer: text, reason of the end and token counts.
fn answer(mut open: Open, reason: FinishReason) -> [(&'static str, Value); 3] {
    open.text += &open.stream.finish();
    // The answer ends before the stop text.
    let end = open.stop.iter().filter_map(|stop| open.text.find(stop)).min();
    open.text.truncate(end.unwrap_or(open.text.len()));
    let reason = match reason {
        FinishReason::Stop => "stop",
        FinishReason::Length | FinishReason::ContextFull => "length",
        FinishReason::Interrupted => "cancelled",
        FinishReason::NotFinite => "error",
    };
    let usage = json!({
        "prompt_tokens": open.prompt_tokens,
        "completion_tokens": open.new_tokens,
        "total_tokens": open.prompt_tokens + open.new_tokens,
    });
    [("text", open.text.into()), ("finish_reason", reason.into()), ("usage", usage)]
}
