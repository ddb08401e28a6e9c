//! What a client asks of an engine and what the engine reports back: the types that the network,
//! the command line, and both solutions share. A request is copied into no other type on its way.

use std::fmt;

use super::FinishReason;

/// Names a request from its submission on; never used twice.
pub type RequestId = u64;

/// What a client asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Where to start from; at least one token.
    pub prompt: Vec<u32>,
    /// At most this many new tokens.
    pub max_new_tokens: usize,
    /// Each of these ends the answer, and is not part of it.
    pub stop_tokens: Vec<u32>,
    /// Each of these ends the answer as soon as the answer's text contains it. Bytes, because a
    /// token may hold a part of a character.
    pub stop_texts: Vec<Vec<u8>>,
    /// Sampling options. Every request has its own generator, so its draws do not depend on other
    /// requests.
    pub sampling: SamplerOptions,
    /// The seed of that generator.
    pub seed: u64,
}

impl Request {
    /// The most probable tokens after this prompt, which nothing ends early.
    #[must_use]
    pub fn greedy(prompt: Vec<u32>, max_new_tokens: usize) -> Self {
        Self {
            prompt,
            max_new_tokens,
            stop_tokens: Vec::new(),
            stop_texts: Vec::new(),
            sampling: SamplerOptions::greedy(),
            seed: 0,
        }
    }
}

// ANCHOR: sampler_options
/// What shapes the distribution. [`SamplerOptions::default`] leaves it as the model gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplerOptions {
    /// 0 is greedy, 1 changes nothing.
    pub temperature: f32,
    /// 0 is off.
    pub top_k: usize,
    /// 1 is off.
    pub top_p: f32,
    /// 0 is off.
    pub min_p: f32,
    /// 1 is off.
    pub repetition_penalty: f32,
}
// ANCHOR_END: sampler_options

impl Default for SamplerOptions {
    fn default() -> Self {
        Self { temperature: 1.0, top_k: 0, top_p: 1.0, min_p: 0.0, repetition_penalty: 1.0 }
    }
}

/// The values that one sampling option may have.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// The option.
    pub name: &'static str,
    /// The valid values, in words.
    pub expected: &'static str,
    valid: fn(f32) -> bool,
}

impl Limit {
    /// Of `temperature`.
    pub const TEMPERATURE: Self =
        Self { name: "temperature", expected: "a number of at least 0", valid: |x| x >= 0.0 };
    /// Of `top_p`.
    pub const TOP_P: Self = Self {
        name: "top_p",
        expected: "a number above 0 and at most 1",
        valid: |x| x > 0.0 && x <= 1.0,
    };
    /// Of `min_p`.
    pub const MIN_P: Self = Self {
        name: "min_p",
        expected: "a number from 0 to 1",
        valid: |x| (0.0..=1.0).contains(&x),
    };
    /// Of `repetition_penalty`.
    pub const REPETITION_PENALTY: Self =
        Self { name: "repetition_penalty", expected: "a number above 0", valid: |x| x > 0.0 };

    /// Whether an option may have this value. NaN and the infinities are never valid.
    #[must_use]
    pub fn allows(&self, x: f32) -> bool {
        x.is_finite() && (self.valid)(x)
    }
}

impl SamplerOptions {
    /// Always the most probable token.
    #[must_use]
    pub fn greedy() -> Self {
        Self { temperature: 0.0, ..Self::default() }
    }

    /// Whether the largest logit decides alone, so that nothing need be drawn: no cut-off removes
    /// the most probable token.
    #[must_use]
    pub fn is_greedy(&self) -> bool {
        self.temperature == 0.0 && self.repetition_penalty == 1.0
    }

    /// Checks every option against its [`Limit`].
    ///
    /// # Errors
    /// If one is out of range; the message names it.
    pub fn check(&self) -> anyhow::Result<()> {
        for (limit, value) in [
            (Limit::TEMPERATURE, self.temperature),
            (Limit::TOP_P, self.top_p),
            (Limit::MIN_P, self.min_p),
            (Limit::REPETITION_PENALTY, self.repetition_penalty),
        ] {
            let Limit { name, expected, .. } = limit;
            anyhow::ensure!(limit.allows(value), "{name}: found {value}, expected {expected}");
        }
        Ok(())
    }
}

/// What a request may ask for that no day teaches. The default is nothing, and then nothing is
/// computed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Extras {
    /// Subtracted from the logit of every token that the answer has.
    pub presence: f32,
    /// Subtracted from the logit of every token, once for each time the answer has it.
    pub frequency: f32,
    /// Report each token's log-probability, and those of this many of the most probable ones.
    pub logprobs: Option<usize>,
}

/// A token that was chosen, in the model's own distribution: before penalties, temperature and
/// cut-offs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chosen {
    /// Which.
    pub token: u32,
    /// The natural logarithm of its probability.
    pub logprob: f32,
    /// The most probable tokens, with the same of theirs, the first of equal ones first.
    pub top: Vec<(u32, f32)>,
}

/// What a step reports about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The next token of its answer.
    Token {
        /// The request it belongs to.
        id: RequestId,
        /// Which.
        token: u32,
    },
    /// Nothing more comes.
    Finished {
        /// The request that ended.
        id: RequestId,
        /// Why.
        reason: FinishReason,
    },
}

/// A token id that the vocabulary does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownToken {
    /// The id.
    pub token: u32,
    /// Its position in the sequence.
    pub position: usize,
    /// The size of the vocabulary.
    pub vocabulary: usize,
}

impl fmt::Display for UnknownToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { token, position, vocabulary } = self;
        write!(
            f,
            "token {token} at position {position} is not in the vocabulary: ids run from 0 to {}",
            vocabulary.saturating_sub(1)
        )
    }
}

impl std::error::Error for UnknownToken {}

/// Checks that every token, given with its position, is in a vocabulary of this many ids.
///
/// # Errors
/// Names the first one that is not.
pub fn check_tokens(
    tokens: impl IntoIterator<Item = (usize, u32)>,
    vocabulary: usize,
) -> Result<(), UnknownToken> {
    let unknown = |&(_, token): &(usize, u32)| token as usize >= vocabulary;
    match tokens.into_iter().find(unknown) {
        None => Ok(()),
        Some((position, token)) => Err(UnknownToken { token, position, vocabulary }),
    }
}

/// Checks that a model with this context and vocabulary can run on a prompt.
///
/// # Errors
/// If there are no tokens, there are more than the context holds, or one is not in the vocabulary.
pub fn check_prompt(tokens: &[u32], context: usize, vocabulary: usize) -> anyhow::Result<()> {
    anyhow::ensure!(!tokens.is_empty(), "there are no tokens to start from");
    anyhow::ensure!(
        tokens.len() <= context,
        "{} tokens do not fit into the model's context of {context}",
        tokens.len()
    );
    Ok(check_tokens((0..).zip(tokens.iter().copied()), vocabulary)?)
}
