//! Week 3's engine without a model, to show how it schedules requests. Only the model is replaced,
//! by a pass that computes nothing.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tiny_llm_reference::{
    week2::{
        cache::{CacheShape, CacheType, KvCache},
        kernels::vector::TILE,
        rows::Row,
    },
    week3::{
        engine::{Engine, Event},
        options::EngineOptions,
        paged::PagedCache,
        pass::Pass,
        request::{Phase, Request},
    },
};

/// Maximum number of requests. All tokens of a request are its number, which identifies its rows.
const MOST: usize = 256;

/// The sizes of the engine, as in the options of `cargo llm simulate`.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Number of batch slots.
    pub places: usize,
    /// Maximum rows per step.
    pub budget: usize,
    /// Number of pages of keys and values, with [`TILE`] positions each.
    pub pages: usize,
}

/// The engine and its requests.
pub struct Crowd {
    engine: Engine<PagedCache, Named>,
    room: Room,
    /// Requests, by number.
    requests: Vec<Known>,
}

/// A request as its client sees it.
struct Known {
    prompt: usize,
    answer: usize,
    finished: bool,
}

impl Crowd {
    /// Creates an engine without requests.
    ///
    /// # Errors
    /// If `room` has no batch slot or no page, or its budget is less than 2.
    pub fn new(room: Room) -> Result<Self> {
        let Room { places, budget, pages } = room;
        ensure!(
            places > 0 && pages > 0 && budget >= 2,
            "found {room:?}, expected at least one slot, one page and a budget of 2"
        );
        let capacity = pages * TILE;
        let shape = CacheShape { layers: 0, sequences: places, kv_heads: 0, capacity, head_dim: 0 };
        let cache = PagedCache::new(shape, TILE, pages, CacheType::F16);
        let options = EngineOptions { budget: Some(budget), ..EngineOptions::default() };
        let engine = Engine::with_pass(Named::default(), cache, options, Box::new(|_| Vec::new()));
        Ok(Self { engine, room, requests: Vec::new() })
    }

    /// Submits a request with `prompt` prompt tokens and `answer` answer tokens.
    ///
    /// # Errors
    /// If there are too many requests, or all pages together are too few for the new request.
    pub fn add(&mut self, prompt: usize, answer: usize) -> Result<()> {
        let (number, most) = (self.requests.len(), self.room.pages * TILE);
        ensure!(number < MOST, "{MOST} requests are enough: start again.");
        ensure!(
            prompt + answer <= most,
            "{} tokens need more than all {} pages.",
            prompt + answer,
            self.room.pages
        );
        self.engine.submit(Request::greedy(vec![number as u32; prompt], answer))?;
        self.requests.push(Known { prompt, answer, finished: false });
        Ok(())
    }

    /// Runs one step of the engine. Returns the state after the step, as [`Crowd::look`] does.
    pub fn step(&mut self) -> Value {
        let mut finished = Vec::new();
        self.engine.step(&mut |event| {
            if let Event::Finished { id, .. } = event {
                finished.push(id as usize);
            }
        });
        for id in finished {
            self.requests[id].finished = true;
        }
        self.look()
    }

    /// Returns the state of the engine: the rows of the last step, the requests and the pages.
    #[must_use]
    pub fn look(&self) -> Value {
        let rows = &self.engine.pass().rows;
        let running: BTreeMap<usize, _> =
            self.engine.running().iter().map(|sequence| (sequence.id as usize, sequence)).collect();
        let request = |(id, known): (usize, &Known)| {
            let sequence = running.get(&id);
            let state = match sequence.map(|sequence| sequence.phase) {
                _ if known.finished => "done",
                Some(Phase::Decoding) => "writes",
                Some(_) => "reads",
                None => "waits",
            };
            let tokens = sequence.map_or(known.prompt, |sequence| sequence.tokens.len());
            json!({
                "state": state,
                "prompt": known.prompt,
                "answer": known.answer,
                "rows": rows.get(&id).copied().unwrap_or_default(),
                "computed": sequence.map_or(0, |sequence| sequence.num_computed),
                "written": if known.finished { known.answer } else { tokens - known.prompt },
            })
        };
        let mut pages = vec![None; self.room.pages];
        for (id, sequence) in &running {
            let tables = sequence.slot.map(|slot| self.engine.cache().table(slot));
            for page in tables.into_iter().flatten() {
                pages[page.index()] = Some(*id);
            }
        }
        let counts = self.engine.counts();
        json!({
            "step": counts.steps,
            "rows": rows.values().sum::<usize>(),
            "preempted": counts.preempted,
            "requests": self.requests.iter().enumerate().map(request).collect::<Vec<_>>(),
            "pages": pages,
        })
    }
}

/// A forward pass that computes nothing. It counts each request's rows in a step, and every token
/// that a request generates is its number.
#[derive(Default)]
struct Named {
    /// Number of rows in the last step, by request number.
    rows: BTreeMap<usize, usize>,
    logits: Vec<f32>,
}

impl<C: KvCache> Pass<C> for Named {
    fn vocab_size(&self) -> usize {
        MOST
    }

    fn max_positions(&self) -> usize {
        usize::MAX
    }

    fn run(&mut self, rows: &[Row], cache: &mut C) {
        self.rows.clear();
        self.logits.clear();
        for row in rows {
            cache.advance(row.sequence, row.position);
            *self.rows.entry(row.token as usize).or_default() += 1;
            if row.logits {
                let said = |token| if token == row.token { 1.0 } else { 0.0 };
                self.logits.extend((0..MOST as u32).map(said));
            }
        }
    }

    fn logits(&self) -> &[f32] {
        &self.logits
    }
}
