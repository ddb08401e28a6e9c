//! Day 6. The exact rule: which drafts are kept, and which token replaces a rejected draft. With
//! this rule, the text has the same distribution as without drafts.
//!
//! Tasks here: week3-day6 task 2 (`distribution`, `accepts`, `residual`, `verify`). Everything else
//! is provided.

use tiny_llm_formats::tensor::tensor;

use crate::week1::{
    attention::softmax,
    sampling::{Rng, SamplerOptions, apply_temperature, min_p, repetition_penalty, top_k, top_p},
};

/// A proposed token, and the probability that the proposer gave each token of the vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The proposed token.
    pub token: u32,
    /// `[V]`, the distribution that the token was drawn from.
    pub q: Vec<f32>,
}

impl Draft {
    /// Creates a draft whose proposer was certain: `token` has probability 1.
    #[must_use]
    pub fn certain(token: u32, vocabulary: usize) -> Self {
        let mut q = vec![0.0; vocabulary];
        q[token as usize] = 1.0;
        Self { token, q }
    }
}

/// The outcome of a pass: how many drafts were accepted, and the token that follows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Number of drafts that became part of the text: always the first drafts of the pass.
    pub accepted: usize,
    /// The token after the accepted drafts.
    pub next: u32,
}

/// Returns the distribution `[V]` from which a [`Sampler`](crate::week1::sampling::Sampler) with
/// these options draws. `seen` holds the tokens so far. At temperature 0, one token has probability
/// 1.
#[must_use]
pub fn distribution(options: &SamplerOptions, logits: &[f32], seen: &[u32]) -> Vec<f32> {
    // SOLUTION week3-day6 task 2
    let mut logits = logits.to_vec();
    repetition_penalty(&mut logits, seen, options.repetition_penalty);
    apply_temperature(&mut logits, options.temperature);
    if options.temperature == 0.0 {
        // A single token is left, so no sum and no exponential is needed.
        return logits.iter().map(|&x| f32::from(x > f32::NEG_INFINITY)).collect();
    }
    top_k(&mut logits, options.top_k);
    top_p(&mut logits, options.top_p);
    min_p(&mut logits, options.min_p);
    softmax(&tensor(&[logits.len()], logits)).into_raw_vec_and_offset().0
    // END SOLUTION
}

/// Returns whether to keep a draft. Keeps it with probability `min(1, p / q)`. `p` is the drafted
/// token's probability in the target model's distribution, and `q > 0` is its probability in the
/// proposer's. `uniform` is a random number from `[0, 1)`.
#[must_use]
pub fn accepts(p: f32, q: f32, uniform: f64) -> bool {
    // SOLUTION week3-day6 task 2
    uniform * f64::from(q) < f64::from(p)
    // END SOLUTION
}

/// Returns the distribution from which the replacement of a rejected draft is drawn:
/// `max(p − q, 0)`, divided by its sum. `p [V]`, `q [V]` → `[V]`.
///
/// If that sum is 0, which only rounding can cause, returns `p`.
#[must_use]
pub fn residual(p: &[f32], q: &[f32]) -> Vec<f64> {
    // SOLUTION week3-day6 task 2
    let wide = |x: &f32| f64::from(*x);
    let left: Vec<f64> = p.iter().zip(q).map(|(p, q)| (wide(p) - wide(q)).max(0.0)).collect();
    let sum: f64 = left.iter().sum();
    if sum == 0.0 {
        return p.iter().map(wide).collect();
    }
    left.iter().map(|x| x / sum).collect()
    // END SOLUTION
}

/// Tests the drafts in order, up to and including the first one that is rejected. `target(i)`
/// returns the target model's distribution `[V]` after the first `i` drafts. Calls `target` no more
/// often than needed.
///
/// Draws one number from `rng` for each tested draft, and one for the final token. If a draft was
/// rejected, draws the final token from the residual. If all `k` drafts were kept, draws it from
/// `target(k)`.
///
/// Source: Leviathan, Kalman and Matias 2023, "Fast Inference from Transformers via Speculative
/// Decoding".
pub fn verify(
    drafts: &[Draft],
    mut target: impl FnMut(usize) -> Vec<f32>,
    rng: &mut Rng,
) -> Verdict {
    // SOLUTION week3-day6 task 2
    for (accepted, Draft { token, q }) in drafts.iter().enumerate() {
        let p = target(accepted);
        if !accepts(p[*token as usize], q[*token as usize], rng.uniform()) {
            let next = draw_weighted(&residual(&p, q), rng.uniform());
            return Verdict { accepted, next };
        }
    }
    let p: Vec<f64> = target(drafts.len()).into_iter().map(f64::from).collect();
    Verdict { accepted: drafts.len(), next: draw_weighted(&p, rng.uniform()) }
    // END SOLUTION
}

/// Provided. Draws a token with a probability proportional to its weight. Adds up the weights in id
/// order, and returns the first token at which the sum exceeds `uniform` times the sum of all
/// weights. `uniform` is in `[0, 1)`. A token of weight 0 is never drawn.
#[must_use]
pub fn draw_weighted(weights: &[f64], uniform: f64) -> u32 {
    // Skips weights of 0, which may be most of them.
    let total: f64 = weights.iter().filter(|weight| **weight > 0.0).sum();
    let (mut sum, mut last) = (0.0, 0);
    for (token, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        last = token as u32;
        sum += weight;
        if sum > uniform * total {
            break;
        }
    }
    last
}
