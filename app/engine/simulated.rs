//! Week 3's engine without a model: its scheduler, batch slots and pages. A step only counts the
//! work of its rows. The command `simulate` uses this engine.

use anyhow::Result;
use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, KvCache},
        kernels::vector::TILE,
        rows::Row,
    },
    week3::{
        engine::Engine, options::EngineOptions, paged::PagedCache, pass::Pass,
        prefix_hash::hash_page, shared::SharedCache,
    },
};
use tiny_llm_cli::{PageCounts, Simulated, SimulatedOptions, StepCost, StepWork};
use tiny_llm_formats::request::{Event, Request};

use super::week3::{Paging, page_counts};

/// An engine whose pages hold no keys and values.
struct SimulatedEngine<C> {
    engine: Engine<C, CountingPass>,
    most_used: usize,
}

/// A forward pass that only adds up the work of its rows. All logits are 0.
struct CountingPass {
    cost: StepCost,
    work: StepWork,
    logits: Vec<f32>,
}

/// Size of the vocabulary: the smallest for which prompts of equal length can differ.
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

/// Creates an engine without a model. When a request ends, its pages are freed or, if prefixes are
/// shared, remembered.
pub(crate) fn open(options: SimulatedOptions) -> Box<dyn Simulated> {
    let SimulatedOptions { max_batch, budget, gap, pages, share_prefixes, context, cost } = options;
    let shape =
        CacheShape { layers: 0, sequences: max_batch, kv_heads: 0, capacity: context, head_dim: 0 };
    let cache = PagedCache::new(shape, TILE, pages, CacheType::F16);
    let pass = CountingPass { cost, work: StepWork::default(), logits: Vec::new() };
    let no_text = Box::new(|_| Vec::new());
    let budget = Some(budget).filter(|&rows| rows > 0);
    let gap = Some(gap).filter(|&gap| gap > 0);
    let others = EngineOptions { budget, gap, ..EngineOptions::default() };
    if share_prefixes {
        let cache = SharedCache::new(cache, 0, hash_page);
        let engine = Engine::with_pass(pass, cache, others, no_text);
        Box::new(SimulatedEngine { engine, most_used: 0 })
    } else {
        let engine = Engine::with_pass(pass, cache, others, no_text);
        Box::new(SimulatedEngine { engine, most_used: 0 })
    }
}

impl<C: Paging> Simulated for SimulatedEngine<C> {
    fn submit(&mut self, prompt: Vec<u32>, max_new_tokens: usize) -> Result<u64> {
        let request = Request::greedy(prompt, max_new_tokens);
        self.engine.submit(request)
    }

    fn step(&mut self, on_event: &mut dyn FnMut(Event)) -> StepWork {
        self.engine.step(on_event);
        self.most_used = self.pages().used.max(self.most_used);
        self.engine.pass().work
    }

    fn is_idle(&self) -> bool {
        self.engine.is_idle()
    }

    fn pages(&self) -> PageCounts {
        page_counts(&self.engine, self.most_used).expect("it has pages")
    }
}
