//! Measures what it costs to run a model as a graph instead of with week 2's engine:
//! `cargo run --release -p tiny-llm-reference --features engine --example graph -- FILE…`.
//!
//! Compares week 2's engine with three graphs: a buffer for each node, an arena, and the processor
//! as a backend. All compute the same rows with the same kernels. Their passes alternate, so other
//! load on the machine slows all of them. A ratio is the median over all rounds. Above 1, the graph
//! is faster. The time to build and plan is a share of a decoded token's time in the same run.

use std::{hint::black_box, path::Path, time::Instant};

use anyhow::{Context, Result, ensure};

use tiny_llm_harness::allocations::{CountingAllocator, count};
use tiny_llm_reference::{
    week2::{
        cache::{CacheShape, CacheType, DenseCache, KvCache},
        gguf::Gguf,
        kernels::Rung,
        load::load_gguf,
        model::{Model, Workspace},
        parallel::Team,
        plan::{AttentionKind, Plan},
        rows::Row,
    },
    week4::{
        cpu::Cpu,
        engine::{Built, GraphEngine},
        llama::PassShape,
        placement::Wishes,
        planner::MemoryPlan,
        scheduler::Scheduler,
    },
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Number of rows of the prompt. Each cache has `CONTEXT` positions.
const PROMPT: usize = 128;
const CONTEXT: usize = 256;
/// Number of rounds with the prompt. `TOKENS` is the number of rounds with a decoded token.
const PROMPTS: usize = 8;
const TOKENS: usize = 48;

fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    ensure!(!files.is_empty(), "expected GGUF files; `cargo llm synth` writes some");
    println!(
        "| file | threads | decode, relative to week 2: a buffer per node · an arena · a backend \
         | prefill of {PROMPT} | time to build and plan, share of a token's time | allocations |\n\
         |---|--:|---|---|---|--:|"
    );
    for file in files {
        let model = load_gguf(&Gguf::open(Path::new(&file))?, CONTEXT)?;
        let name = Path::new(&file).file_stem().context("expected a file")?.to_string_lossy();
        for threads in [1, 2] {
            println!("| {name} | {threads} | {} |", Compared::new(&model, threads)?.row());
        }
    }
    Ok(())
}

/// Results for one model. Times are in seconds.
struct Compared {
    /// For each round with the prompt: the time of every engine.
    prompts: Vec<[f64; ENGINES]>,
    tokens: Vec<[f64; ENGINES]>,
    build: f64,
    /// Maximum allocations for one decoded token in all graphs together. Ignores the first two
    /// tokens.
    allocations: usize,
}

impl Compared {
    fn new(model: &Model, threads: usize) -> Result<Self> {
        let plan = Plan {
            kernels: Rung::best().into(),
            attention: AttentionKind::Streaming,
            team: Team::new(threads),
        };
        let mut engines = Engines::new(model, plan);
        let (mut prompts, mut tokens, mut allocations) = (Vec::new(), Vec::new(), 0);
        for round in 0..=PROMPTS {
            engines.caches.iter_mut().for_each(|cache| cache.truncate(0, 0));
            let (times, _) = engines.pass(0, PROMPT, round)?;
            // The first round reads the file into memory.
            prompts.extend((round > 0).then_some(times));
        }
        for round in 0..TOKENS + 2 {
            let (times, found) = engines.pass(PROMPT + round, 1, round)?;
            if round >= 2 {
                tokens.push(times);
                allocations = allocations.max(found);
            }
        }
        let builds = (0..15).map(|_| {
            let start = Instant::now();
            let Built { graph, order, logits, .. } =
                Built::new(model, PassShape { rows: 1, wanted: 1 })?;
            black_box(MemoryPlan::smaller(&graph, &order, &[logits], true)?);
            Ok(start.elapsed().as_secs_f64())
        });
        let build = median(builds.collect::<Result<Vec<f64>>>()?);
        Ok(Self { prompts, tokens, build, allocations })
    }

    fn row(&self) -> String {
        let ratios = |rounds: &[[f64; ENGINES]]| {
            let ratio = |engine: usize| {
                let ratios = rounds.iter().map(|times| times[0] / times[engine]);
                format!("{:.2}", median(ratios.collect()))
            };
            (1..ENGINES).map(ratio).collect::<Vec<_>>().join(" · ")
        };
        let token = median(self.tokens.iter().map(|times| times[2]).collect());
        format!(
            "{} | {} | {:.0} µs of {:.1} ms, {:.2} % | {}",
            ratios(&self.tokens),
            ratios(&self.prompts),
            1e6 * self.build,
            1e3 * token,
            100.0 * self.build / token,
            self.allocations
        )
    }
}

/// Number of engines: week 2's engine and three graphs.
const ENGINES: usize = 4;

/// All engines that are compared, each with its own cache.
struct Engines<'a> {
    model: &'a Model,
    plan: Plan,
    caches: [DenseCache; ENGINES],
    work: Workspace,
    graphs: [GraphEngine; ENGINES - 1],
}

impl<'a> Engines<'a> {
    fn new(model: &'a Model, plan: Plan) -> Self {
        let shape = CacheShape::of(&model.config, 1, CONTEXT);
        Self {
            model,
            plan,
            caches: [0; ENGINES].map(|_| DenseCache::new(shape, CacheType::F16)),
            work: Workspace::default(),
            graphs: [
                GraphEngine::default(),
                GraphEngine::planned(),
                GraphEngine::on(Scheduler::new(vec![Box::new(Cpu::default())]), Wishes::default()),
            ],
        }
    }

    /// Runs the same rows through all engines, in an order that depends on `round`. Returns each
    /// engine's time, and the number of allocations in all graphs. Fails if any logits differ.
    fn pass(&mut self, start: usize, n: usize, round: usize) -> Result<([f64; ENGINES], usize)> {
        let row = |i: usize| Row {
            token: ((start + i) * 7919 % self.model.config.vocab_size) as u32,
            position: start + i,
            sequence: 0,
            logits: i + 1 == n,
        };
        let rows: Vec<Row> = (0..n).map(row).collect();
        let (mut times, mut allocations, mut sums) = ([0.0; ENGINES], 0, [0; ENGINES]);
        let turn = |i: usize| if round.is_multiple_of(2) { i } else { ENGINES - 1 - i };
        for engine in (0..ENGINES).map(|i| (turn(i) + round / 2) % ENGINES) {
            let cache = &mut self.caches[engine];
            let begin = Instant::now();
            let logits = if engine == 0 {
                self.model.forward(&rows, cache, &self.plan, &mut self.work)
            } else {
                let graph = &mut self.graphs[engine - 1];
                let (found, logits) = count(|| graph.forward(self.model, &rows, cache, &self.plan));
                allocations += found;
                logits?
            };
            times[engine] = begin.elapsed().as_secs_f64();
            let mix = |sum: u32, x: &f32| sum.rotate_left(5) ^ x.to_bits();
            sums[engine] = logits.iter().fold(0, mix);
        }
        ensure!(sums[1..].iter().all(|sum| *sum == sums[0]), "the logits differ from week 2's");
        Ok((times, allocations))
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
