//! Day 1. A client's request, and its life in the engine.
//!
//! Tasks here: week3-day1 task 1 (`Sequence::admit`, `Sequence::computed`, `Sequence::accept`,
//! `Sequence::cancel`). Everything else is provided.

use super::{constraint::Constraint, sampler::Sampler, stop::StopTexts, timeline::Record};
use crate::week1::generate::FinishReason;

pub use tiny_llm_formats::request::{Request, RequestId};

/// The phase of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The request has no slot, and waits for a free one.
    Waiting,
    /// Some of the request's tokens are not in the cache yet, so no token can be chosen.
    Prefilling,
    /// All of the request's tokens are in the cache, except perhaps the last chosen token.
    Decoding,
    /// The request is done, and its slot can be reused.
    Finished(FinishReason),
}

/// A request in the engine: its tokens so far, and how many of them have been computed.
#[derive(Debug, Clone)]
pub struct Sequence {
    /// The request's id.
    pub id: RequestId,
    /// The tokens of the prompt, then those of the answer so far.
    pub tokens: Vec<u32>,
    /// Number of `tokens` that belong to the prompt.
    pub prompt_len: usize,
    /// Length of the prefix of `tokens` that is in the cache.
    pub num_computed: usize,
    /// The request's phase.
    pub phase: Phase,
    /// The request's batch slot, set by `admit`. The engine frees the slot when the request is
    /// retired or preempted.
    pub slot: Option<usize>,
    /// The request's sampler, with its own random number generator.
    pub sampler: Sampler,
    /// The request's limits and stop tokens.
    pub limits: Limits,
    /// Searches the answer for stop texts. Holds the answer's last bytes, which may contain the
    /// start of a stop text.
    pub stop_texts: StopTexts,
    /// The constraint that the answer must obey, if any.
    pub constraint: Option<Constraint>,
    /// Number of steps since the last step in which the request had a row.
    pub waited: usize,
    /// The times at which the request arrived, got tokens and ended, if the engine keeps records.
    pub record: Option<Record>,
}

/// The conditions that end an answer, apart from stop texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of new tokens.
    pub max_new_tokens: usize,
    /// Maximum number of tokens in the prompt and the answer together.
    pub context: usize,
    /// Each of these tokens ends the answer, and is not part of it.
    pub stop_tokens: Vec<u32>,
}

impl Sequence {
    /// Assigns the batch slot `slot` to this waiting request, and begins the request's prefill.
    ///
    /// # Panics
    /// If the request is not waiting.
    pub fn admit(&mut self, slot: usize) {
        // SOLUTION week3-day1 task 1
        assert_eq!(self.phase, Phase::Waiting, "request {} is admitted", self.id);
        self.phase = Phase::Prefilling;
        self.slot = Some(slot);
        // END SOLUTION
    }

    /// Records that the model has computed `rows` more tokens of this request. Returns whether all
    /// of its tokens so far have been computed, so that the next token can be chosen.
    ///
    /// # Panics
    /// If the request's phase is not `Prefilling` or `Decoding`. Also if fewer than `rows` of its
    /// tokens remain to be computed.
    pub fn computed(&mut self, rows: usize) -> bool {
        // SOLUTION week3-day1 task 1
        assert!(
            matches!(self.phase, Phase::Prefilling | Phase::Decoding),
            "request {}: found phase {:?}, expected `Prefilling` or `Decoding`",
            self.id,
            self.phase
        );
        let left = self.num_left();
        assert!(rows <= left, "request {}: {rows} rows, but {left} are left", self.id);
        self.num_computed += rows;
        let all = self.num_computed == self.tokens.len();
        if all {
            self.phase = Phase::Decoding;
        }
        all
        // END SOLUTION
    }

    /// Appends the chosen token to `tokens`, unless it is a stop token. Returns whether the token
    /// was appended. `completes_stop_text` says whether the token's text completes a stop text.
    ///
    /// The request ends for the first of these reasons that applies:
    ///
    /// - The token is a stop token, or completes a stop text ([`FinishReason::Stop`]).
    /// - The answer now has `max_new_tokens` tokens ([`FinishReason::Length`]).
    /// - The context is full ([`FinishReason::ContextFull`]).
    ///
    /// # Panics
    /// If the request is not decoding.
    pub fn accept(&mut self, token: u32, completes_stop_text: bool) -> bool {
        // SOLUTION week3-day1 task 1
        assert_eq!(self.phase, Phase::Decoding, "request {}: phase in `accept`", self.id);
        if self.limits.stop_tokens.contains(&token) {
            self.phase = Phase::Finished(FinishReason::Stop);
            return false;
        }
        self.tokens.push(token);
        if completes_stop_text {
            self.phase = Phase::Finished(FinishReason::Stop);
        } else if self.tokens.len() - self.prompt_len >= self.limits.max_new_tokens {
            self.phase = Phase::Finished(FinishReason::Length);
        } else if self.tokens.len() >= self.limits.context {
            self.phase = Phase::Finished(FinishReason::ContextFull);
        }
        true
        // END SOLUTION
    }

    /// Ends the request with [`FinishReason::Interrupted`], because its client has disconnected.
    /// The request may be in any phase. If it has already finished, does nothing.
    pub fn cancel(&mut self) {
        // SOLUTION week3-day1 task 1
        if !matches!(self.phase, Phase::Finished(_)) {
            self.phase = Phase::Finished(FinishReason::Interrupted);
        }
        // END SOLUTION
    }

    /// Returns how many tokens of the request have not been computed.
    #[must_use]
    pub fn num_left(&self) -> usize {
        self.tokens.len() - self.num_computed
    }

    /// Returns how many more tokens the request's limits allow.
    #[must_use]
    pub fn num_room(&self) -> usize {
        let new = self.tokens.len() - self.prompt_len;
        let Limits { max_new_tokens, context, .. } = self.limits;
        max_new_tokens.saturating_sub(new).min(context.saturating_sub(self.tokens.len()))
    }

    /// Returns why the request ended, or `None` if it has not ended.
    #[must_use]
    pub fn finished(&self) -> Option<FinishReason> {
        match self.phase {
            Phase::Finished(reason) => Some(reason),
            _ => None,
        }
    }
}
