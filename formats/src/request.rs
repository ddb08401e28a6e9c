//! Clients' requests to an engine, and the engine's reports. The server, the command line and both
//! solutions (the learner's and the reference) share these types, so a request that goes from one
//! to another isn't converted.

use std::fmt;

use super::FinishReason;

/// The id that a request gets when it is submitted. Ids are never used twice.
pub type RequestId = u64;

/// A client's request.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The tokens of the text to continue, at least one.
    pub prompt: Vec<u32>,
    /// Maximum number of new tokens.
    pub max_new_tokens: usize,
    /// Each of these tokens ends the answer, and is not part of it.
    pub stop_tokens: Vec<u32>,
    /// Each of these texts ends the answer as soon as the answer contains it. The texts are bytes,
    /// because a token may end within a character.
    pub stop_texts: Vec<Vec<u8>>,
    /// Sampling options. Every request has its own random number generator, so its draws do not
    /// depend on other requests.
    pub sampling: SamplerOptions,
    /// The seed of the request's random number generator.
    pub seed: u64,
}

impl Request {
    /// Creates a request for the most probable tokens after this prompt, without stop tokens or
    /// texts.
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
/// Options that change the next token's distribution. [`SamplerOptions::default`] changes nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplerOptions {
    /// Temperature: 0 is greedy, 1 changes nothing.
    pub temperature: f32,
    /// Number of most probable tokens to keep; 0 is off.
    pub top_k: usize,
    /// Total probability of the tokens to keep; 1 is off.
    pub top_p: f32,
    /// Minimum probability, relative to the most probable token; 0 is off.
    pub min_p: f32,
    /// Penalty for tokens that are already in the text; 1 is off.
    pub repetition_penalty: f32,
}
// ANCHOR_END: sampler_options

impl Default for SamplerOptions {
    fn default() -> Self {
        Self { temperature: 1.0, top_k: 0, top_p: 1.0, min_p: 0.0, repetition_penalty: 1.0 }
    }
}

/// The valid values of a sampling option.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// Name of the option.
    pub name: &'static str,
    /// The valid values, in words.
    pub expected: &'static str,
    valid: fn(f32) -> bool,
}

impl Limit {
    /// The valid values of `temperature`.
    pub const TEMPERATURE: Self =
        Self { name: "temperature", expected: "a number of at least 0", valid: |x| x >= 0.0 };
    /// The valid values of `top_p`.
    pub const TOP_P: Self = Self {
        name: "top_p",
        expected: "a number above 0 and at most 1",
        valid: |x| x > 0.0 && x <= 1.0,
    };
    /// The valid values of `min_p`.
    pub const MIN_P: Self = Self {
        name: "min_p",
        expected: "a number from 0 to 1",
        valid: |x| (0.0..=1.0).contains(&x),
    };
    /// The valid values of `repetition_penalty`.
    pub const REPETITION_PENALTY: Self =
        Self { name: "repetition_penalty", expected: "a number above 0", valid: |x| x > 0.0 };

    /// Returns whether the option may have this value. NaN and the infinities are never valid.
    #[must_use]
    pub fn allows(&self, x: f32) -> bool {
        x.is_finite() && (self.valid)(x)
    }
}

impl SamplerOptions {
    /// Returns options that always choose the most probable token.
    #[must_use]
    pub fn greedy() -> Self {
        Self { temperature: 0.0, ..Self::default() }
    }

    /// Returns whether the token with the largest logit is always chosen, so that no sampling is
    /// needed. (No cut-off ever removes the most probable token.)
    #[must_use]
    pub fn is_greedy(&self) -> bool {
        self.temperature == 0.0 && self.repetition_penalty == 1.0
    }

    /// Checks every option against its [`Limit`].
    ///
    /// # Errors
    /// If an option is out of range. The message names it.
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

/// Request options that the course doesn't teach. By default all are off, and then nothing is
/// computed for them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Extras {
    /// Penalty that is subtracted from the logit of every token that is already in the answer.
    pub presence: f32,
    /// Penalty that is subtracted from a token's logit once for each occurrence of the token in the
    /// answer.
    pub frequency: f32,
    /// `Some(n)` reports the log-probabilities of each chosen token and of the `n` most probable
    /// tokens. `None` reports none.
    pub logprobs: Option<usize>,
}

/// A chosen token, with log-probabilities from the model's own distribution (before penalties,
/// temperature and cut-offs).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chosen {
    /// The token's id.
    pub token: u32,
    /// The natural logarithm of the token's probability.
    pub logprob: f32,
    /// The most probable tokens with their log-probabilities. The most probable comes first. Of
    /// equally probable tokens, the one with the smaller id comes first.
    pub top: Vec<(u32, f32)>,
}

/// What a step of the engine reports about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The next token of a request's answer.
    Token {
        /// The request's id.
        id: RequestId,
        /// The token's id.
        token: u32,
    },
    /// A request has ended. Nothing more is reported about it.
    Finished {
        /// The request's id.
        id: RequestId,
        /// The reason why the answer ended.
        reason: FinishReason,
    },
}

/// Error: a token id is not in the vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownToken {
    /// The unknown token's id.
    pub token: u32,
    /// The unknown token's position in the sequence.
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

/// Checks that every token id is below `vocabulary`, the number of ids. `tokens` are pairs of
/// position and token id.
///
/// # Errors
/// If a token is not in the vocabulary. The error names the first such token.
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

/// Checks that a model can run on `tokens`. `context` is the maximum number of tokens, and
/// `vocabulary` the number of token ids.
///
/// # Errors
/// If there are no tokens or more than `context`, or a token is not in the vocabulary.
pub fn check_prompt(tokens: &[u32], context: usize, vocabulary: usize) -> anyhow::Result<()> {
    anyhow::ensure!(!tokens.is_empty(), "there are no tokens to start from");
    anyhow::ensure!(
        tokens.len() <= context,
        "{} tokens do not fit into the model's context of {context} tokens",
        tokens.len()
    );
    Ok(check_tokens((0..).zip(tokens.iter().copied()), vocabulary)?)
}
