//! `simulate`: runs week 3's scheduler and page management under loads that no laptop could serve.
//! Only the model is replaced, by a cost for each step. `--real` also runs the real model, for
//! comparison.

mod cluster;
mod cost;
mod histogram;
mod load;
mod real;
mod report;
mod trace;

use std::{path::PathBuf, process::ExitCode, time::Instant};

use anyhow::{Result, ensure};

use super::{
    BatchOptions, Draft, LoadOptions, SimulatedOptions, Solution, WrongOption,
    options::{Located, at_least_one, count, embedded, located, up_to},
    output::{Output, note},
};
use cluster::{Cluster, Routing};
pub use cost::StepCost;
use load::{Arrival, Arrivals, Load, LogNormal};
use real::Admission;
use report::Case;

#[derive(clap::Args)]
#[command(
    after_help = "The cost of a step is A milliseconds, plus B microseconds per token, plus C nanoseconds\n\
    per cache position that the tokens attend to. Give these three numbers with --cost A,B,C.\n\
    Without --cost, the command measures batches on --model, fits the three numbers to the\n\
    measured times, and prints the error of the fit.\n\n\
    A LIST is values separated by commas, for example 1,2,4. If several options take a LIST,\n\
    every combination is simulated. Each combination prints one row."
)]
pub(super) struct Args {
    /// Number of requests
    #[arg(long, value_name = "N", default_value = "10000", value_parser = up_to::<100_000_000>)]
    requests: usize,
    /// Average requests per second
    #[arg(long, value_name = "LIST", default_value = "1", value_delimiter = ',', value_parser = positive)]
    rate: Vec<f64>,
    /// Rate during bursts of about 10 s, as a multiple of the average (1: no bursts)
    #[arg(long, value_name = "X", default_value = "1", value_parser = from_one)]
    burst: f64,
    /// Median prompt length in tokens
    #[arg(long, value_name = "N", default_value = "128", value_parser = positive)]
    prompt_tokens: f64,
    /// Median answer length in tokens
    #[arg(long, value_name = "N", default_value = "64", value_parser = positive)]
    answer_tokens: f64,
    /// Spread of prompt and answer lengths (standard deviation of their logarithms)
    #[arg(long, value_name = "X", default_value = "0.8", value_parser = not_negative)]
    spread: f64,
    /// Number of shared prefixes: each prompt begins with one of them (0: none)
    #[arg(long, value_name = "N", default_value = "0", value_parser = count)]
    shared_prompts: usize,
    /// Tokens per shared prefix
    #[arg(long, value_name = "N", default_value = "500", value_parser = up_to::<1_000_000>)]
    shared_tokens: usize,
    /// Random seed
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,
    /// Number of batch slots (requests decoded at the same time)
    #[arg(long, value_name = "LIST", default_value = "16", value_delimiter = ',', value_parser = up_to::<4096>)]
    max_batch: Vec<usize>,
    /// Maximum tokens computed per step (0: no limit)
    #[arg(long, value_name = "LIST", default_value = "512", value_delimiter = ',', value_parser = count)]
    budget: Vec<usize>,
    /// Time limit for a step with prompts: N × a decode-only step (0: no limit)
    #[arg(long, value_name = "N", default_value = "0", value_parser = count)]
    gap: usize,
    /// Number of KV cache pages (with --real-only, 0 means a whole context per slot)
    #[arg(long, value_name = "LIST", default_value = "1024", value_delimiter = ',', value_parser = pages)]
    pages: Vec<usize>,
    /// Reuse the pages of earlier prompts with the same prefix
    #[arg(long)]
    share_prefixes: bool,
    /// Maximum tokens of prompt plus answer
    #[arg(short = 'c', long, value_name = "N", default_value = "4096", value_parser = up_to::<1_000_000>)]
    context: usize,
    /// Number of engine replicas behind the router
    #[arg(long, value_name = "LIST", default_value = "1", value_delimiter = ',', value_parser = up_to::<1024>)]
    replicas: Vec<usize>,
    /// Routing policies: round-robin, least-loaded, prefix
    #[arg(long, value_name = "LIST", default_value = "round-robin", value_delimiter = ',')]
    routing: Vec<Routing>,
    /// Cost of a step (see below) [default: measured with --model]
    #[arg(long, value_name = "A,B,C", conflicts_with = "model")]
    cost: Option<StepCost>,
    /// Model to measure the cost with (folder, GGUF file or name) [default: the embedded model]
    #[arg(long, value_name = "MODEL", value_parser = located())]
    model: Option<Located>,
    /// Threads used for the measurement [default: one per physical core]
    #[arg(short = 'j', long, value_name = "N", value_parser = at_least_one)]
    threads: Option<usize>,
    /// Copy the model's weights into memory, in the layout that the kernels read fastest
    #[arg(long)]
    repack: bool,
    /// JSON Lines file of requests (fields: time, prompt or prompt_tokens, max_tokens)
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Also run the requests through the real model and compare with the simulation
    #[arg(long)]
    real: bool,
    /// Run only the real model
    #[arg(long)]
    real_only: bool,
    /// Admit new requests only when the whole batch has finished (needs --real-only)
    #[arg(long, requires = "real_only")]
    static_batches: bool,
    /// Draft model (folder, GGUF file or name), or `lookup` (copies from earlier text)
    #[arg(long, value_name = "MODEL", requires = "real_only")]
    draft: Option<Draft>,
    /// Print each row as a JSON object
    #[arg(long, conflicts_with = "svg")]
    json: bool,
    /// Also plot throughput against latency, as an SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

pub(super) fn run(solution: &Solution, args: &Args) -> Result<ExitCode> {
    let whole = args.pages.contains(&0);
    if !args.real_only && whole {
        return Err(WrongOption(
            "--pages: found 0, expected a number from 1 to 10000000 (--real-only allows 0)"
                .to_owned(),
        )
        .into());
    }
    if args.share_prefixes && whole {
        return Err(WrongOption("--share-prefixes needs --pages".to_owned()).into());
    }
    let cost = match args.cost {
        _ if args.real_only => None,
        Some(cost) => Some(cost),
        None => Some(measured(solution, args)?),
    };
    let mut cases = Vec::new();
    for &max_batch in &args.max_batch {
        for &budget in &args.budget {
            for &pages in &args.pages {
                let options = SimulatedOptions {
                    max_batch,
                    budget,
                    gap: args.gap,
                    pages,
                    share_prefixes: args.share_prefixes,
                    context: args.context,
                    cost: cost.unwrap_or_default(),
                };
                for &rate in &args.rate {
                    if args.real || args.real_only {
                        cases.push(really(solution, args, options, rate)?);
                    }
                    if args.real_only {
                        continue;
                    }
                    for &replicas in &args.replicas {
                        for &routing in &args.routing {
                            let how = (replicas, routing);
                            cases.push(simulated(solution, args, options, how, rate)?);
                        }
                    }
                }
            }
        }
    }
    if let Some(file) = &args.svg {
        report::draw(&cases, file)?;
    }
    let text = if args.json { report::as_json(&cases) } else { report::as_table(&cases) };
    Output::new().print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn arrivals(
    solution: &Solution,
    args: &Args,
    context: usize,
    rate: f64,
) -> Result<Box<dyn Iterator<Item = Arrival>>> {
    if let Some(file) = &args.trace {
        return Ok(Box::new(trace::read(solution, file, &args.path())?.into_iter()));
    }
    let lengths = |median| LogNormal { median, sigma: args.spread };
    ensure!(
        args.shared_prompts == 0 || args.shared_tokens + 2 <= context,
        "--shared-tokens: found {}, expected at most {}: the context of {context} also needs \
         room for one more prompt token and one answer token",
        args.shared_tokens,
        context.saturating_sub(2)
    );
    Ok(Box::new(Arrivals::new(Load {
        requests: args.requests,
        rate,
        burst: args.burst,
        prompt: lengths(args.prompt_tokens),
        answer: lengths(args.answer_tokens),
        shared_prompts: args.shared_prompts,
        shared_tokens: args.shared_tokens,
        context,
        seed: args.seed,
    })))
}

fn simulated(
    solution: &Solution,
    args: &Args,
    options: SimulatedOptions,
    (replicas, routing): (usize, Routing),
    rate: f64,
) -> Result<Case> {
    let engines = (0..replicas).map(|_| (solution.simulated)(options)).collect();
    // No request may need more pages than there are.
    let page_len = (solution.simulated)(options).pages().page_len;
    let context = options.context.min(options.pages.saturating_mul(page_len));
    let arrivals = arrivals(solution, args, context, rate)?;
    let start = Instant::now();
    let mut submitted = 0usize;
    let outcome =
        Cluster::new(engines, options.max_batch, routing, options.cost).serve(arrivals, || {
            submitted += 1;
            if submitted.is_multiple_of(100_000) {
                let seconds = start.elapsed().as_secs_f64();
                note(&format!("{submitted} of {} requests, {seconds:.0} s", args.requests));
            }
        })?;
    Ok(Case { options, replicas, routing, rate, outcome })
}

/// Runs the requests that `args` describe on the real model.
fn really(solution: &Solution, args: &Args, options: SimulatedOptions, rate: f64) -> Result<Case> {
    let SimulatedOptions { max_batch, budget, gap, pages, share_prefixes, context, .. } = options;
    let load = LoadOptions {
        week: Some(2),
        threads: args.threads,
        context: Some(context),
        repack: args.repack,
        ..LoadOptions::default()
    };
    let model = (solution.load)(&args.path(), &load)?;
    let context = model.config().max_positions;
    note(&format!("engine   {}", model.about().described));
    let batch = BatchOptions {
        max_batch,
        budget: Some(budget),
        gap,
        pages: (pages > 0).then_some(pages),
        share_prefixes,
        draft: args.draft.clone(),
    };
    let mut batch = model.into_batch(batch, Box::new(|_| Vec::new()))?;
    let page_len =
        (solution.simulated)(SimulatedOptions { pages: pages.max(1), ..options }).pages().page_len;
    let room = if pages > 0 { pages.saturating_mul(page_len) } else { context };
    let arrivals = arrivals(solution, args, context.min(room), rate)?;
    let admission = Admission { max_batch, in_batches: args.static_batches };
    let outcome = real::serve(batch.as_mut(), arrivals, admission)?;
    Ok(Case { options, replicas: 1, routing: Routing::RoundRobin, rate, outcome })
}

/// Measures on this machine what a step of the model costs.
fn measured(solution: &Solution, args: &Args) -> Result<StepCost> {
    let path = args.path();
    let options = LoadOptions {
        week: Some(2),
        threads: args.threads,
        repack: args.repack,
        ..LoadOptions::default()
    };
    let model = (solution.load)(&path, &options)?;
    let (context, vocabulary) = (model.config().max_positions, model.config().vocab_size);
    let described = model.about().described;
    let batch = BatchOptions {
        max_batch: 16,
        budget: Some(0),
        gap: 0,
        pages: None,
        share_prefixes: false,
        draft: None,
    };
    let mut batch = model.into_batch(batch, Box::new(|_| Vec::new()))?;
    let fit = cost::measure(batch.as_mut(), context.min(args.context).min(1024), vocabulary)?;
    note(&format!(
        "measured {} steps of {} ({described}): --cost {}; half of the steps are within {:.1} % of \
         that cost, 9 of 10 within {:.0} %",
        fit.steps,
        path.display(),
        fit.cost.spelled(),
        100.0 * fit.median_error,
        100.0 * fit.largest_error,
    ));
    Ok(fit.cost)
}

impl Args {
    /// Returns the path of the model to measure or to run.
    fn path(&self) -> PathBuf {
        self.model.as_ref().map_or_else(|| embedded("tiny-story"), |model| model.path.clone())
    }
}

fn pages(text: &str) -> Result<usize, String> {
    if text == "0" { Ok(0) } else { up_to::<10_000_000>(text) }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.is_finite())
}

fn positive(text: &str) -> Result<f64, String> {
    number(text).filter(|x| *x > 0.0).ok_or_else(|| "expected a number above 0".to_owned())
}

fn not_negative(text: &str) -> Result<f64, String> {
    number(text).filter(|x| *x >= 0.0).ok_or_else(|| "expected a number of at least 0".to_owned())
}

fn from_one(text: &str) -> Result<f64, String> {
    number(text).filter(|x| *x >= 1.0).ok_or_else(|| "expected a number of at least 1".to_owned())
}
