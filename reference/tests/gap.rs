//! How long those who read wait while a long prompt comes, counted in rows: at most so many times what
//! they wait usually, however long the prompt is.
#![cfg(feature = "engine")]

use tiny_llm_reference::{
    week1::sampling::SamplerOptions,
    week2::{
        cache::{CacheShape, CacheType, KvCache},
        kernels::vector::TILE,
        rows::Row,
    },
    week3::{
        engine::{Engine, EngineOptions, Event, FEWEST},
        paged::PagedCache,
        pass::Pass,
        request::Request,
    },
};

const PLACES: usize = 16;
const CONTEXT: usize = 4096;
const VOCABULARY: usize = 4;

/// Answers every row with the same logits.
#[derive(Default)]
struct Nothing {
    logits: Vec<f32>,
}

impl<C: KvCache> Pass<C> for Nothing {
    fn vocab_size(&self) -> usize {
        VOCABULARY
    }

    fn max_positions(&self) -> usize {
        CONTEXT
    }

    fn run(&mut self, rows: &[Row], cache: &mut C) {
        rows.iter().for_each(|row| cache.advance(row.sequence, row.position));
        let wanted = rows.iter().filter(|row| row.logits).count();
        self.logits.resize(wanted * VOCABULARY, 0.0);
    }

    fn logits(&self) -> &[f32] {
        &self.logits
    }
}

fn engine(budget: Option<usize>, gap: Option<usize>) -> Engine<PagedCache, Nothing> {
    let shape =
        CacheShape { layers: 0, sequences: PLACES, kv_heads: 0, capacity: CONTEXT, head_dim: 0 };
    let cache = PagedCache::new(shape, TILE, PLACES * CONTEXT / TILE, CacheType::F16);
    let options = EngineOptions { budget, gap, records: true, ..EngineOptions::default() };
    Engine::with_pass(Nothing::default(), cache, options, Box::new(|_| Vec::new()))
}

fn request(prompt: usize, max_new_tokens: usize) -> Request {
    Request {
        prompt: vec![0; prompt],
        max_new_tokens,
        stop_tokens: Vec::new(),
        stop_texts: Vec::new(),
        sampling: SamplerOptions { temperature: 0.0, ..SamplerOptions::default() },
        seed: 0,
    }
}

/// The most rows of a step in which `readers` get their tokens while a prompt of 1,000 comes, and the
/// steps until it is answered.
fn beside_a_prompt(readers: usize, budget: Option<usize>, gap: Option<usize>) -> (u64, u64) {
    let mut engine = engine(budget, gap);
    for _ in 0..readers {
        engine.submit(request(4, 2000)).expect("a good request");
    }
    while engine.running().iter().filter(|one| one.tokens.len() > 4).count() < readers {
        engine.step(&mut |_| ());
    }
    let id = engine.submit(request(1000, 2)).expect("a good request");
    let (mut most, mut steps, mut answered) = (0, 0, false);
    while !answered {
        let before = engine.counts().rows;
        let mut told = 0;
        engine.step(&mut |event| {
            if let Event::Token { id: whose, .. } = event {
                told += 1;
                answered |= whose == id;
            }
        });
        assert!(told >= readers, "{told} tokens of {readers} readers in a step");
        most = most.max(engine.counts().rows - before);
        steps += 1;
    }
    (most, steps)
}

#[test]
fn readers_wait_three_times_as_long_at_most() {
    // Without it, all of the prompt lies between two tokens.
    assert_eq!(beside_a_prompt(7, None, None), (1007, 1));
    for (readers, most, steps) in [(1, 8, 143), (2, 8, 167), (3, 9, 167), (7, 21, 72), (15, 45, 34)]
    {
        let found = beside_a_prompt(readers, None, Some(3));
        assert_eq!(found, (most, steps), "{readers} readers");
        assert!(found.0 <= (3 * readers as u64).max(FEWEST as u64), "{readers} readers");
        assert_eq!(beside_a_prompt(readers, Some(512), Some(3)), found, "and a larger budget");
    }
    // The smaller of the two counts.
    assert_eq!(beside_a_prompt(7, Some(16), Some(3)), (16, 112));
}

/// Nobody reads: there is nobody to be spared.
#[test]
fn a_prompt_alone_goes_through_at_once() {
    let mut engine = engine(None, Some(3));
    engine.submit(request(1000, 3)).expect("a good request");
    engine.submit(request(900, 3)).expect("a good request");
    engine.step(&mut |_| ());
    assert_eq!(engine.counts().rows, 1900);
}

/// Prompts that come while others decode get on in every step, so that nobody starves.
#[test]
fn prompts_get_on() {
    let mut engine = engine(Some(512), Some(3));
    for i in 0..40 {
        engine.submit(request(1 + 90 * i % 700, 30)).expect("a good request");
    }
    let mut steps = 0;
    while !engine.is_idle() {
        engine.step(&mut |_| ());
        steps += 1;
        assert!(steps < 3000, "still at work");
    }
    let records = engine.take_records();
    assert_eq!(records.len(), 40);
    assert!(records.iter().all(|(_, record)| record.longest_gap.steps == 1));
}
