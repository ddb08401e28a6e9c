//! Day 1. The engine: requests come at any time, and every step runs the model once for all of them.

use std::{collections::VecDeque, sync::Arc};

use anyhow::{Result, ensure};

use super::{
    request::{Request, RequestId, Sequence},
    slots::Slots,
};
use crate::{
    week1::{generate::FinishReason, sampling::SamplerOptions},
    week2::{
        cache::{CacheShape, CacheType, DenseCache, KvCache},
        model::{Model, Workspace},
        plan::Plan,
        rows::Row,
    },
};

/// How large an engine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineOptions {
    /// Requests that are computed at once.
    pub max_batch: usize,
    /// Longest sequence, prompt and answer together.
    pub context: usize,
    /// How keys and values are stored.
    pub cache_type: CacheType,
}

/// What a step tells about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The next token of its answer.
    Token {
        /// Whose.
        id: RequestId,
        /// Which.
        token: u32,
    },
    /// Nothing more comes.
    Finished {
        /// Whose end.
        id: RequestId,
        /// Why.
        reason: FinishReason,
    },
}

/// What the engine has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Forward passes.
    pub steps: u64,
    /// Rows in all of them.
    pub rows: u64,
    /// The most rows of one pass.
    pub most_rows: usize,
}

/// Requests, a model and a cache. The order of computation is first come, first served; a request
/// joins as soon as there is a place, and leaves as soon as it is done, while the others go on.
pub struct Engine {
    model: Arc<Model>,
    plan: Arc<Plan>,
    context: usize,
    cache: DenseCache,
    slots: Slots,
    waiting: VecDeque<Sequence>,
    running: Vec<Sequence>,
    next_id: RequestId,
    counts: Counts,
    work: Workspace,
    rows: Vec<Row>,
    /// A token's bytes, which stop texts are looked for in.
    token_bytes: Box<dyn Fn(u32) -> Vec<u8> + Send>,
}

impl Engine {
    /// An engine without requests. `token_bytes` gives the text of a token.
    #[must_use]
    pub fn new(
        model: Arc<Model>,
        plan: Arc<Plan>,
        options: EngineOptions,
        token_bytes: Box<dyn Fn(u32) -> Vec<u8> + Send>,
    ) -> Self {
        let c = &model.config;
        let context = options.context.min(c.max_positions);
        let shape = CacheShape {
            layers: c.n_layers,
            sequences: options.max_batch,
            kv_heads: c.n_kv_heads,
            capacity: context,
            head_dim: c.head_dim,
        };
        Self {
            cache: DenseCache::new(shape, options.cache_type),
            slots: Slots::new(options.max_batch),
            waiting: VecDeque::new(),
            running: Vec::with_capacity(options.max_batch),
            next_id: 0,
            counts: Counts::default(),
            work: Workspace::default(),
            rows: Vec::new(),
            model,
            plan,
            context,
            token_bytes,
        }
    }

    /// Takes a request, to be computed from the next step on in which there is a place.
    ///
    /// # Errors
    /// If the prompt is empty, longer than the context, or has a token that is not in the
    /// vocabulary; or if a sampling option is out of range. Nothing else changes.
    pub fn submit(&mut self, request: Request) -> Result<RequestId> {
        let (prompt, vocabulary) = (&request.prompt, self.model.config.vocab_size);
        ensure!(!prompt.is_empty(), "the prompt is empty: there is no token to start from");
        ensure!(
            prompt.len() <= self.context,
            "the prompt has {} tokens, but the context holds {}",
            prompt.len(),
            self.context
        );
        if let Some((at, token)) =
            prompt.iter().enumerate().find(|(_, token)| **token as usize >= vocabulary)
        {
            anyhow::bail!(
                "token {token} at position {at} is not in the vocabulary: ids run from 0 to {}",
                vocabulary - 1
            );
        }
        check_sampling(&request.sampling)?;
        let id = self.next_id;
        self.next_id += 1;
        self.waiting.push_back(Sequence::new(id, request, self.context));
        Ok(id)
    }

    /// Ends a request whose client has gone. The next step says so, and its place is free.
    /// Returns whether there was such a request.
    pub fn cancel(&mut self, id: RequestId) -> bool {
        let sequences = self.waiting.iter_mut().chain(&mut self.running);
        match sequences.into_iter().find(|sequence| sequence.id == id) {
            Some(sequence) => {
                sequence.cancel();
                true
            }
            None => false,
        }
    }

    /// Whether nothing is left to be done.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty()
    }

    /// The requests that have a place in the cache, in the order in which they came.
    #[must_use]
    pub fn running(&self) -> &[Sequence] {
        &self.running
    }

    /// How many requests wait.
    #[must_use]
    pub fn num_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// What has been done so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// One forward pass for all requests that have a place, with those that it lets in. Tells what
    /// became of each; does nothing if there is nothing to do.
    pub fn step(&mut self, on_event: &mut dyn FnMut(Event)) {
        self.retire(on_event);
        self.admit();
        self.rows.clear();
        for sequence in &self.running {
            append_rows(sequence, sequence.num_left(), &mut self.rows);
        }
        if self.rows.is_empty() {
            return;
        }
        self.counts.steps += 1;
        self.counts.rows += self.rows.len() as u64;
        self.counts.most_rows = self.counts.most_rows.max(self.rows.len());
        let vocabulary = self.model.config.vocab_size;
        let logits = self.model.forward(&self.rows, &mut self.cache, &self.plan, &mut self.work);
        let mut logits = logits.chunks_exact(vocabulary);
        for sequence in &mut self.running {
            if sequence.computed(sequence.num_left()) {
                let logits = logits.next().expect("logits of every last row");
                let token = sequence.sampler.choose(logits, &sequence.tokens);
                if sequence.accept(token, &(self.token_bytes)(token)) {
                    on_event(Event::Token { id: sequence.id, token });
                }
            }
        }
        self.retire(on_event);
    }

    /// Lets waiting requests in, the oldest first, as long as there are places.
    fn admit(&mut self) {
        // SOLUTION week3-day1 task 4
        while let Some(first) = self.waiting.front() {
            let Some(slot) = self.slots.claim(first.id) else { return };
            let mut sequence = self.waiting.pop_front().expect("it is the first");
            sequence.admit(slot);
            self.running.push(sequence);
        }
        // END SOLUTION
    }

    /// Tells of every request that is done, running or waiting, and lets it go: its place in the
    /// cache is empty and free.
    fn retire(&mut self, on_event: &mut dyn FnMut(Event)) {
        // SOLUTION week3-day1 task 4
        for sequence in self.running.iter().chain(&self.waiting) {
            let Some(reason) = sequence.finished() else { continue };
            on_event(Event::Finished { id: sequence.id, reason });
            if let Some(slot) = sequence.slot {
                self.cache.truncate(slot, 0);
                self.slots.release(slot, sequence.id);
            }
        }
        self.running.retain(|sequence| sequence.finished().is_none());
        self.waiting.retain(|sequence| sequence.finished().is_none());
        // END SOLUTION
    }
}

/// Appends the rows of a request: `rows` of its tokens that have not been computed, from the first of
/// them on, each at its own position. Only the last row of all its tokens wants logits: what follows a
/// token in the middle of the prompt is known.
///
/// # Panics
/// If the request has no place in the cache, or fewer tokens are left.
pub fn append_rows(sequence: &Sequence, rows: usize, out: &mut Vec<Row>) {
    // SOLUTION week3-day1 task 4
    let slot = sequence.slot.expect("only a request with a place in the cache is computed");
    let start = sequence.num_computed;
    let last = sequence.tokens.len() - 1;
    let tokens = &sequence.tokens[start..start + rows];
    out.extend(tokens.iter().zip(start..).map(|(&token, position)| Row {
        token,
        position,
        sequence: slot,
        logits: position == last,
    }));
    // END SOLUTION
}

/// Whether a sampler can do what is asked.
fn check_sampling(options: &SamplerOptions) -> Result<()> {
    let SamplerOptions { temperature, top_p, min_p, repetition_penalty, .. } = *options;
    let checks = [
        ("temperature", temperature, temperature >= 0.0, "a number from 0 on"),
        ("top_p", top_p, top_p > 0.0 && top_p <= 1.0, "a number above 0 and at most 1"),
        ("min_p", min_p, (0.0..=1.0).contains(&min_p), "a number from 0 to 1"),
        ("repetition_penalty", repetition_penalty, repetition_penalty > 0.0, "a number above 0"),
    ];
    for (name, value, valid, expected) in checks {
        ensure!(value.is_finite() && valid, "{name}: found {value}, expected {expected}");
    }
    Ok(())
}
