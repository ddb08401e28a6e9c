//! Day 7. Sampling: shape a distribution, then draw from it.
//!
//! Each shaping step modifies the logits in place. To rule out a token, it sets the token's logit
//! to `−inf`. The order of the steps is repetition penalty, temperature, top-k, top-p, min-p, draw.
//!
//! Tasks here: week1-day7 task 1 (`apply_temperature`), week1-day7 task 2 (`top_k`), week1-day7
//! task 3 (`top_p`), week1-day7 task 4 (`min_p`), week1-day7 task 5 (`repetition_penalty`),
//! week1-day7 task 6 (`Rng::next_u64`, `Rng::uniform`, `draw`, `Sampler::choose`). Everything else
//! is provided.

use tiny_llm_formats::tensor::tensor;

use super::{attention::softmax, generate::argmax};

pub use tiny_llm_formats::request::SamplerOptions;

/// Divides the logits by `temperature`. If `temperature` is 0, keeps only the largest logit and
/// sets all others to `−inf`. If several logits share the largest value, keeps the first one.
pub fn apply_temperature(logits: &mut [f32], temperature: f32) {
    // SOLUTION week1-day7 task 1
    if temperature == 0.0 {
        let best = argmax(logits) as usize;
        for (i, logit) in logits.iter_mut().enumerate() {
            if i != best {
                *logit = f32::NEG_INFINITY;
            }
        }
    } else {
        for logit in logits {
            *logit /= temperature;
        }
    }
    // END SOLUTION
}

/// Keeps the `k` largest logits and sets all others to `−inf`. Among equal logits, prefers the
/// lower token ids. If `k` is 0 or at least `logits.len()`, keeps all logits.
pub fn top_k(logits: &mut [f32], k: usize) {
    // SOLUTION week1-day7 task 2
    if k == 0 {
        return;
    }
    for &token in descending(logits).iter().skip(k) {
        logits[token] = f32::NEG_INFINITY;
    }
    // END SOLUTION
}

// SOLUTION week1-day7 task 2 (helper)
/// Returns the token ids, from the largest logit to the smallest. The sort is stable, so equal
/// logits stay in id order.
fn descending(logits: &[f32]) -> Vec<usize> {
    let mut ids: Vec<usize> = (0..logits.len()).collect();
    ids.sort_by(|&a, &b| logits[b].partial_cmp(&logits[a]).expect("no logit is NaN"));
    ids
}

/// Returns the probabilities of one row of logits, `softmax(logits)`.
fn probabilities(logits: &[f32]) -> Vec<f32> {
    softmax(&tensor(&[logits.len()], logits.to_vec())).into_raw_vec_and_offset().0
}
// END SOLUTION

/// Applies nucleus sampling: keeps the most probable tokens until their probabilities sum to at
/// least `p`. Sets all other logits to `−inf`.
///
/// - Tokens are taken from the largest logit to the smallest. Among equal logits, lower ids come
///   first.
/// - The token that brings the sum to `p` is kept too, so at least one token always remains.
/// - If `p ≥ 1`, all tokens are kept.
/// - The sum is an f64, because rounding errors add up over many thousands of tokens.
///
/// Source: Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration".
pub fn top_p(logits: &mut [f32], p: f32) {
    // SOLUTION week1-day7 task 3
    if p >= 1.0 {
        return;
    }
    let probabilities = probabilities(logits);
    // An f64, because rounding errors add up over the many thousands of tokens of a vocabulary.
    let mut mass_before = 0.0;
    for (rank, &token) in descending(logits).iter().enumerate() {
        if rank > 0 && mass_before >= f64::from(p) {
            logits[token] = f32::NEG_INFINITY;
        }
        mass_before += f64::from(probabilities[token]);
    }
    // END SOLUTION
}

/// Keeps the tokens that are at least `p` times as probable as the most probable token. Sets all
/// other logits to `−inf`. `p` is in `[0, 1]`. If `p` is 0, keeps all tokens.
///
/// Source: Nguyen et al. 2024, "Turning Up the Heat: Min-p Sampling".
pub fn min_p(logits: &mut [f32], p: f32) {
    // SOLUTION week1-day7 task 4
    let max = logits.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
    for logit in logits {
        // e^(logit − max) is this token's probability divided by the largest probability: the
        // denominator of the softmax cancels.
        if (*logit - max).exp() < p {
            *logit = f32::NEG_INFINITY;
        }
    }
    // END SOLUTION
}

/// Penalises every token in `seen`: divides a positive logit by `penalty`, and multiplies a
/// negative one by it. A token that occurs several times is penalised only once. `penalty` is
/// positive. A penalty above 1 makes these tokens less likely. A penalty of 1 changes nothing.
///
/// Source: Keskar et al. 2019, "CTRL".
pub fn repetition_penalty(logits: &mut [f32], seen: &[u32], penalty: f32) {
    // SOLUTION week1-day7 task 5
    let mut tokens = seen.to_vec();
    tokens.sort_unstable();
    tokens.dedup();
    for token in tokens {
        let logit = &mut logits[token as usize];
        *logit = if *logit > 0.0 { *logit / penalty } else { *logit * penalty };
    }
    // END SOLUTION
}

/// SplitMix64, a seeded random number generator. The same seed gives the same numbers on every
/// machine.
///
/// Source: Steele, Lea and Flood 2014, "Fast Splittable Pseudorandom Number Generators".
#[derive(Debug, Clone)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// Creates a generator with `state = seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Adds `0x9e3779b97f4a7c15` to the state. Copies the state to `z`, mixes `z` and returns it:
    /// `z ^= z >> 30`, `z *= 0xbf58476d1ce4e5b9`, `z ^= z >> 27`, `z *= 0x94d049bb133111eb`,
    /// `z ^= z >> 31`. All arithmetic is modulo 2⁶⁴.
    pub fn next_u64(&mut self) -> u64 {
        // SOLUTION week1-day7 task 6
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
        // END SOLUTION
    }

    /// Returns a uniform random number in `[0, 1)`: the upper 53 bits of [`Rng::next_u64`], times
    /// 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        // SOLUTION week1-day7 task 6
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
        // END SOLUTION
    }
}

/// Adds up the probabilities `softmax(logits)` in the order of token ids. Returns the first token
/// at which the sum exceeds `uniform`. `uniform` is in `[0, 1)`. If rounding keeps the sum at or
/// below `uniform`, returns the last token whose probability is above 0. Never draws a token with
/// logit `−inf`.
pub fn draw(logits: &[f32], uniform: f64) -> u32 {
    // SOLUTION week1-day7 task 6
    let mut sum = 0.0;
    let mut last = argmax(logits);
    for (token, probability) in probabilities(logits).into_iter().enumerate() {
        if probability > 0.0 {
            last = token as u32;
            sum += f64::from(probability);
            if sum > uniform {
                return last;
            }
        }
    }
    // Because of rounding, the final sum may be just below 1 and not exceed `uniform`. Then return
    // the last token whose probability is above 0.
    last
    // END SOLUTION
}

/// Chooses tokens. Applies [`repetition_penalty`], [`apply_temperature`], [`top_k`], [`top_p`] and
/// [`min_p`] to the logits in this order. Then draws a token with [`draw`].
#[derive(Debug, Clone)]
pub struct Sampler {
    /// Options that shape the distribution of the next token.
    pub options: SamplerOptions,
    /// The random generator. Each call of [`Sampler::choose`] draws one number.
    pub rng: Rng,
}

impl Sampler {
    /// Chooses the next token from `logits [V]`. `seen` holds the prompt and all new tokens so far.
    pub fn choose(&mut self, logits: &[f32], seen: &[u32]) -> u32 {
        // SOLUTION week1-day7 task 6
        let SamplerOptions {
            temperature,
            top_k: k,
            top_p: nucleus,
            min_p: ratio,
            repetition_penalty: penalty,
        } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        apply_temperature(&mut logits, temperature);
        top_k(&mut logits, k);
        top_p(&mut logits, nucleus);
        min_p(&mut logits, ratio);
        draw(&logits, self.rng.uniform())
        // END SOLUTION
    }
}
