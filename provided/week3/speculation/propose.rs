//! Proposes drafts for many requests in one call, from each request's own text or from one draft
//! model.

use std::sync::Arc;

use anyhow::{Result, ensure};

use crate::week3::{lookup::draft_from_text, request::Sequence, room::dense};
use crate::{
    week1::generate::argmax,
    week2::{
        cache::{CacheType, DenseCache, KvCache},
        model::{Model, Workspace},
        plan::Plan,
        rows::Row,
    },
};

/// Proposes tokens for the requests of a step.
pub trait Proposer: Send {
    /// For each request `i`, appends at most `most[i]` drafts to `drafts[i]`. The caller passes
    /// empty lists.
    fn propose(&mut self, requests: &[Sequence], most: &[usize], drafts: &mut [Vec<u32>]);

    /// Returns how many of a request's tokens the proposer must compute before the request's first
    /// draft.
    fn num_missing(&self, _request: &Sequence) -> usize {
        0
    }
}

/// Finds an earlier occurrence of the suffix of each request's text, and proposes the tokens that
/// followed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookupProposer {
    /// The maximum length of the suffix, in tokens.
    pub longest: usize,
}

impl Proposer for LookupProposer {
    fn propose(&mut self, requests: &[Sequence], most: &[usize], drafts: &mut [Vec<u32>]) {
        for ((request, &most), drafts) in requests.iter().zip(most).zip(drafts) {
            drafts.extend(draft_from_text(&request.tokens, self.longest, most));
        }
    }
}

/// Proposes the likeliest tokens of a smaller model. Each of its passes drafts one token for every
/// request that still needs drafts.
pub struct ModelProposer {
    model: Arc<Model>,
    plan: Arc<Plan>,
    cache: DenseCache,
    work: Workspace,
    /// `[sequences]`, the tokens that the cache holds for each batch slot.
    cached: Vec<Vec<u32>>,
    rows: Vec<Row>,
}

impl ModelProposer {
    /// Creates a proposer for an engine with `places` batch slots, each with at most `context`
    /// positions. The vocabulary of the engine's model has `vocabulary` tokens.
    ///
    /// # Errors
    /// If the draft model's vocabulary has a different size, because its ids would then mean other
    /// tokens.
    pub fn new(
        model: Arc<Model>,
        plan: Arc<Plan>,
        (places, context): (usize, usize),
        cache_type: CacheType,
        vocabulary: usize,
    ) -> Result<Self> {
        let found = model.config.vocab_size;
        ensure!(
            found == vocabulary,
            "found a draft model with a vocabulary of {found} tokens, expected {vocabulary}, as \
             in the target model"
        );
        let cache = dense(&model, places, context, cache_type);
        let capacity = cache.shape().capacity;
        let cached = (0..places).map(|_| Vec::with_capacity(capacity)).collect();
        let work = Workspace::default();
        Ok(Self { model, plan, cache, work, cached, rows: Vec::new() })
    }

    /// Truncates the slot's cached tokens to the prefix that they share with `text`. The removed
    /// tokens are rejected drafts, or belong to an earlier request.
    fn keep_prefix(&mut self, slot: usize, text: &[u32]) {
        let cached = &mut self.cached[slot];
        let same = in_common(cached, text);
        cached.truncate(same);
        self.cache.truncate(slot, cached.len());
    }

    /// Appends a row for each token that isn't in the cache: first those of `text`, then `drafts`.
    fn append_rows(&mut self, slot: usize, text: &[u32], drafts: &[u32]) {
        let cached = &mut self.cached[slot];
        let start = cached.len();
        cached.extend(text.iter().chain(drafts).skip(start));
        let last = cached.len() - 1;
        self.rows.extend(cached[start..].iter().zip(start..).map(|(&token, position)| Row {
            token,
            position,
            sequence: slot,
            logits: position == last,
        }));
    }
}

/// Returns the length of the common prefix of `cached` and `text`. The last token of `text` never
/// counts.
fn in_common(cached: &[u32], text: &[u32]) -> usize {
    // The last token's logits are needed, so it is always computed.
    let text = &text[..text.len() - 1];
    cached.iter().zip(text).take_while(|(a, b)| a == b).count()
}

fn place(request: &Sequence) -> usize {
    request.slot.expect("a running request has a slot")
}

impl Proposer for ModelProposer {
    fn num_missing(&self, request: &Sequence) -> usize {
        let text = &request.tokens;
        text.len() - in_common(&self.cached[place(request)], text)
    }

    fn propose(&mut self, requests: &[Sequence], most: &[usize], drafts: &mut [Vec<u32>]) {
        for (request, _) in requests.iter().zip(most).filter(|(_, most)| **most > 0) {
            self.keep_prefix(place(request), &request.tokens);
        }
        let capacity = self.cache.shape().capacity;
        let goes_on = |request: &Sequence, most: usize, drafts: &[u32]| {
            drafts.len() < most && request.tokens.len() + drafts.len() <= capacity
        };
        loop {
            self.rows.clear();
            for ((request, &most), drafts) in requests.iter().zip(most).zip(&*drafts) {
                if goes_on(request, most, drafts) {
                    self.append_rows(place(request), &request.tokens, drafts);
                }
            }
            if self.rows.is_empty() {
                return;
            }
            self.model.forward(&self.rows, &mut self.cache, &self.plan, &mut self.work);
            let mut logits = self.work.logits().chunks_exact(self.model.config.vocab_size);
            for ((request, &most), drafts) in requests.iter().zip(most).zip(&mut *drafts) {
                if goes_on(request, most, drafts) {
                    drafts.push(argmax(logits.next().expect("a row of logits per request")));
                }
            }
        }
    }
}
