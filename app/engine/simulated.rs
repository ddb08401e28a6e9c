//! Week 3's engine without a model: its scheduler, its places and its pages, and of each step only
//! what the rows would cost. A simulation drives it.

use anyhow::Result;
use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, KvCache},
        kernels::vector::TILE,
        rows::Row,
    },
    week3::{
        engine::{Engine, EngineOptions},
        paged::PagedCache,
        pass::Pass,
        prefix_hash::hash_page,
        shared::SharedCache,
    },
};
use tiny_llm_cli::{PageCounts, Simulated, SimulatedOptions, StepCost, StepWork};
use tiny_llm_formats::request::{Event, Request};

/// An engine whose pages have no bytes.
pub(crate) struct SimulatedEngine {
    engine: AnyEngine,
    most_used: usize,
}

/// With pages that are forgotten as soon as nobody has them, or remembered.
enum AnyEngine {
    Paged(Engine<PagedCache, CountingPass>),
    Shared(Engine<SharedCache, CountingPass>),
}

/// The same of either engine.
macro_rules! of_any {
    ($engine:expr, $name:ident => $value:expr) => {
        match $engine {
            AnyEngine::Paged($name) => $value,
            AnyEngine::Shared($name) => $value,
        }
    };
}

/// Adds up what the rows of a step would cost, and has no opinion on the next token.
struct CountingPass {
    cost: StepCost,
    work: StepWork,
    logits: Vec<f32>,
}

/// As few as can spell two prompts that differ.
const VOCABULARY: usize = 2;

impl<C: KvCache> Pass<C> for CountingPass {
    fn vocab_size(&self) -> usize {
        VOCABULARY
    }

    fn max_positions(&self) -> usize {
        usize::MAX
    }

    fn run(&mut self, rows: &[Row], cache: &mut C) {
        let positions = rows.iter().map(|row| row.position as u64 + 1).sum();
        self.work = StepWork { rows: rows.len() as u64, positions };
        for row in rows {
            cache.advance(row.sequence, row.position);
        }
        let wanted = rows.iter().filter(|row| row.logits).count();
        self.logits.resize(wanted * VOCABULARY, 0.0);
    }

    fn logits(&self) -> &[f32] {
        &self.logits
    }

    fn seconds(&self) -> Option<f64> {
        Some(self.cost.of(self.work))
    }
}

impl SimulatedEngine {
    pub(crate) fn new(options: SimulatedOptions) -> Self {
        let SimulatedOptions { max_batch, budget, gap, pages, share_prefixes, context, cost } =
            options;
        let shape = CacheShape {
            layers: 0,
            sequences: max_batch,
            kv_heads: 0,
            capacity: context,
            head_dim: 0,
        };
        let cache = PagedCache::new(shape, TILE, pages, CacheType::F16);
        let pass = CountingPass { cost, work: StepWork::default(), logits: Vec::new() };
        let no_text = Box::new(|_| Vec::new());
        let budget = Some(budget).filter(|&rows| rows > 0);
        let gap = Some(gap).filter(|&gap| gap > 0);
        let others = EngineOptions { budget, gap, ..EngineOptions::default() };
        let engine = if share_prefixes {
            let cache = SharedCache::new(cache, 0, hash_page);
            AnyEngine::Shared(Engine::with_pass(pass, cache, others, no_text))
        } else {
            AnyEngine::Paged(Engine::with_pass(pass, cache, others, no_text))
        };
        Self { engine, most_used: 0 }
    }
}

impl Simulated for SimulatedEngine {
    fn submit(&mut self, prompt: Vec<u32>, max_new_tokens: usize) -> Result<u64> {
        let request = Request::greedy(prompt, max_new_tokens);
        of_any!(&mut self.engine, engine => engine.submit(request))
    }

    fn step(&mut self, on_event: &mut dyn FnMut(Event)) -> StepWork {
        of_any!(&mut self.engine, engine => engine.step(on_event));
        self.most_used = self.pages().used.max(self.most_used);
        of_any!(&self.engine, engine => engine.pass().work)
    }

    fn is_idle(&self) -> bool {
        of_any!(&self.engine, engine => engine.is_idle())
    }

    fn pages(&self) -> PageCounts {
        let (pool, index) = match &self.engine {
            AnyEngine::Paged(engine) => (engine.cache().pool(), None),
            AnyEngine::Shared(engine) => {
                (engine.cache().pages().pool(), Some(engine.cache().index()))
            }
        };
        PageCounts {
            pages: pool.num_pages(),
            page_len: TILE,
            used: pool.num_pages() - pool.num_free(),
            most_used: self.most_used,
            preempted: of_any!(&self.engine, engine => engine.counts()).preempted,
            found: index.map(|index| (index.counts().found, index.counts().asked)),
        }
    }
}
