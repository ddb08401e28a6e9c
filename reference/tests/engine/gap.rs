//! Checks `EngineOptions::gap`: a long prompt slows the steps of decoding requests ("readers") by a
//! limited factor, however long it is. The time of a step is computed, not measured.

use tiny_llm_reference::{
    week2::{
        cache::{CacheShape, CacheType, KvCache},
        kernels::vector::TILE,
        rows::Row,
    },
    week3::{
        engine::{Engine, Event},
        options::{BUSY, EngineOptions, FEWEST},
        paged::PagedCache,
        pass::Pass,
        request::Request,
    },
};

const SLOTS: usize = 16;
const CONTEXT: usize = 4096;
const VOCABULARY: usize = 4;

/// A model whose logits are zeros. It reports that a pass takes `step`, plus 1 for each row.
#[derive(Default)]
struct Nothing {
    step: f64,
    rows: usize,
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
        self.rows = rows.len();
    }

    fn logits(&self) -> &[f32] {
        &self.logits
    }

    fn seconds(&self) -> Option<f64> {
        Some(self.step + self.rows as f64)
    }
}

fn engine(step: f64, budget: Option<usize>, gap: Option<usize>) -> Engine<PagedCache, Nothing> {
    let shape =
        CacheShape { layers: 0, sequences: SLOTS, kv_heads: 0, capacity: CONTEXT, head_dim: 0 };
    let cache = PagedCache::new(shape, TILE, SLOTS * CONTEXT / TILE, CacheType::F16);
    let options = EngineOptions { budget, gap, records: true, ..EngineOptions::default() };
    let pass = Nothing { step, ..Nothing::default() };
    Engine::with_pass(pass, cache, options, Box::new(|_| Vec::new()))
}

fn request(prompt: usize, max_new_tokens: usize) -> Request {
    Request::greedy(vec![0; prompt], max_new_tokens)
}

/// Submits a prompt of 1,000 tokens while `readers` other requests decode. Returns the maximum
/// number of rows in a step, and the number of steps until the long prompt's first answer token.
fn beside_a_prompt(
    readers: usize,
    step: f64,
    budget: Option<usize>,
    gap: Option<usize>,
) -> (u64, u64) {
    let mut engine = engine(step, budget, gap);
    for _ in 0..readers {
        engine.submit(request(4, 2000)).expect("a good request");
    }
    while engine.running().iter().filter(|one| one.tokens.len() > 6).count() < readers {
        engine.step(&mut |_| ());
    }
    let id = engine.submit(request(1000, 2)).expect("a good request");
    let (mut most, mut steps, mut answered) = (0, 0, false);
    while !answered {
        let before = engine.counts().rows;
        let mut emitted = 0;
        engine.step(&mut |event| {
            if let Event::Token { id: whose, .. } = event {
                emitted += 1;
                answered |= whose == id;
            }
        });
        assert!(emitted >= readers, "{emitted} tokens of {readers} readers in a step");
        most = most.max(engine.counts().rows - before);
        steps += 1;
    }
    (most, steps)
}

/// Here, the time of a step is its number of rows. So a gap of 3 allows three times as many rows as
/// a usual step has. A step in which all 16 slots decode has 16 rows.
#[test]
fn gap_limits_the_rows_of_a_step() {
    // Without a gap, the whole prompt is computed between two tokens.
    assert_eq!(beside_a_prompt(7, 0.0, None, None), (1007, 1));
    for (readers, most, steps) in [(1, 8, 143), (2, 8, 167), (3, 9, 167), (7, 21, 72), (15, 32, 59)]
    {
        let found = beside_a_prompt(readers, 0.0, None, Some(3));
        assert_eq!(found, (most, steps), "{readers} readers");
        assert!(found.0 <= (3 * readers as u64).max(FEWEST as u64), "{readers} readers");
        assert_eq!(beside_a_prompt(readers, 0.0, Some(512), Some(3)), found, "a larger budget");
    }
    // The smaller of the two limits applies.
    assert_eq!(beside_a_prompt(7, 0.0, Some(16), Some(3)), (16, 112));
}

/// With a fixed cost per step, the gap allows more rows than without. The limit is three times a
/// usual step's time, or twice the time of a step in which every slot decodes, if that is less.
#[test]
fn gap_uses_nearly_all_rows_that_fit() {
    for step in [1.0, 16.0, 100.0] {
        for readers in [1u32, 2, 3, 7, 15] {
            let (most, steps) = beside_a_prompt(readers as usize, step, None, Some(3));
            let (usual, longest) = (step + f64::from(readers), step + most as f64);
            let limit = (3.0 * usual).min(BUSY as f64 * (step + SLOTS as f64));
            let what = format!("{readers} readers, {step} a step: {most} rows, {steps} steps");
            assert!(longest <= limit.max(step + FEWEST as f64), "{what}");
            // After a few steps, it uses nearly all the rows that fit.
            let fit = (limit - step).floor().max(FEWEST as f64);
            assert!(most as f64 >= 0.85 * fit, "{what}");
            let fewest = (1000.0 / (fit - f64::from(readers))).ceil();
            assert!((steps as f64) < 1.4 * fewest + 8.0, "{what}, at least {fewest}");
        }
    }
    for (readers, row) in BOOK {
        assert_eq!(beside_a_prompt(readers, 16.0, None, Some(3)), row, "{readers} readers");
    }
}

/// Number of readers, maximum rows in a step, and steps until the first token, as in `load.md`.
const BOOK: [(usize, (u64, u64)); 4] =
    [(1, (34, 33)), (3, (40, 28)), (7, (47, 26)), (15, (48, 31))];

/// While no request decodes, `EngineOptions::gap` does not limit the rows of a step.
#[test]
fn prompts_alone_are_computed_in_one_step() {
    let mut engine = engine(16.0, None, Some(3));
    engine.submit(request(1000, 3)).expect("a good request");
    engine.submit(request(900, 3)).expect("a good request");
    engine.step(&mut |_| ());
    assert_eq!(engine.counts().rows, 1900);
}

/// Decoding requests get a token in every step, and no prompt starves.
#[test]
fn gap_starves_no_request() {
    let mut engine = engine(16.0, Some(512), Some(3));
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
