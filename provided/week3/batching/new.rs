//! Constructors of an engine and its requests.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    week1::generate::FinishReason,
    week2::{model::Model, plan::Plan},
    week3::{
        ahead::Ahead,
        engine::{Engine, TokenBytes},
        options::{Counts, EngineOptions},
        pass::{ModelPass, Pass},
        request::{Limits, Phase, Request, RequestId, Sequence},
        room::EngineCache,
        sampler::Sampler,
        scheduler::Scheduler,
        slots::Slots,
        step_times::StepTimes,
        stop::StopTexts,
    },
};

impl<C: EngineCache> Engine<C> {
    /// Creates an engine without requests. `cache` must be empty. The cache's number of sequences
    /// is the maximum number of requests that run at once.
    ///
    /// # Panics
    /// If the budget is less than 2.
    #[must_use]
    pub fn new(
        model: Arc<Model>,
        plan: Arc<Plan>,
        cache: C,
        options: EngineOptions,
        token_bytes: TokenBytes,
    ) -> Self {
        Self::with_pass(ModelPass::new(model, plan), cache, options, token_bytes)
    }
}

impl<C: EngineCache, P: Pass<C>> Engine<C, P> {
    /// Like [`Engine::new`], but `pass` computes the rows instead of a [`ModelPass`].
    #[must_use]
    pub fn with_pass(pass: P, cache: C, options: EngineOptions, token_bytes: TokenBytes) -> Self {
        let shape = cache.shape();
        Self {
            context: options.context.min(shape.capacity).min(pass.max_positions()),
            scheduler: options.budget.map(Scheduler::new),
            gap: options.gap,
            step_times: StepTimes::default(),
            slots: Slots::new(shape.sequences),
            waiting: VecDeque::new(),
            running: Vec::with_capacity(shape.sequences),
            next_id: 0,
            counts: Counts::default(),
            attached: 0,
            found: Vec::with_capacity(shape.sequences),
            loads: Vec::with_capacity(shape.sequences),
            shares: Vec::with_capacity(shape.sequences),
            records: options.records.then(Vec::new),
            rows: Vec::new(),
            ahead: None,
            chosen: Vec::new(),
            pass,
            cache,
            token_bytes,
            masked: Vec::new(),
        }
    }

    /// Enables drafts. `ahead` proposes them. A decoding request may then have several rows in a
    /// step if that is faster. Tokens are chosen from the same logits and with the same random
    /// numbers as without drafts. A draft is kept only if it equals the chosen token, so no answer
    /// changes.
    #[must_use]
    pub fn with_drafts(self, ahead: Ahead) -> Self {
        Self { ahead: Some(ahead), ..self }
    }
}

impl Sequence {
    /// Creates a waiting request with a context of `context` tokens. The request is finished
    /// immediately if its token limit is 0 or its prompt fills the context.
    #[must_use]
    pub fn new(id: RequestId, request: Request, context: usize) -> Self {
        let Request { mut prompt, max_new_tokens, stop_tokens, stop_texts, sampling, seed } =
            request;
        // Reserve everything now, so that adding an accepted token doesn't allocate.
        prompt.reserve_exact(max_new_tokens.min(context.saturating_sub(prompt.len())));
        let phase = if max_new_tokens == 0 {
            Phase::Finished(FinishReason::Length)
        } else if prompt.len() >= context {
            Phase::Finished(FinishReason::ContextFull)
        } else {
            Phase::Waiting
        };
        Self {
            id,
            prompt_len: prompt.len(),
            tokens: prompt,
            num_computed: 0,
            phase,
            slot: None,
            sampler: Sampler::new(sampling, seed),
            limits: Limits { max_new_tokens, context, stop_tokens },
            stop_texts: StopTexts::new(stop_texts),
            constraint: None,
            waited: 0,
            record: None,
        }
    }
}
