//! Chooses a token from its logits without sorting the vocabulary. From the same logits and random
//! numbers, it chooses the same tokens as the sampler of week 1.
//!
//! The sampler of week 1 processes the whole vocabulary in every step (top-k, top-p, min-p,
//! drawing). Here each step processes only the candidates that the previous steps kept, in the
//! order of their ids. Top-k uses a selection algorithm, and top-p pops the largest candidates from
//! a heap until it has enough. The candidates that have been ruled out have weight 0 in week 1's
//! sums. So omitting them changes no sum, as long as the others are added in the same order: see
//! `Candidates::weigh`.

use std::{cmp::Ordering, collections::BinaryHeap};

use tiny_llm_formats::request::SamplerOptions;

/// Chooses tokens. Allocates memory only for the first token.
#[derive(Debug, Clone)]
pub struct Sampler {
    options: SamplerOptions,
    /// The logits after the repetition penalty, `[V]`.
    logits: Vec<f32>,
    /// For each token, the value of `choices` when it was last penalised, `[V]`. 0 if it never was.
    penalised: Vec<u64>,
    choices: u64,
    candidates: Candidates,
    heap: Vec<Candidate>,
}

/// Tokens that may still be drawn, in the order of their ids.
#[derive(Debug, Clone, Default)]
struct Candidates {
    vocabulary: usize,
    tokens: Vec<Candidate>,
    /// The weight of each candidate, after [`Candidates::weigh`].
    weights: Vec<f32>,
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    id: u32,
    logit: f32,
}

impl Sampler {
    /// Creates a sampler.
    pub fn new(options: SamplerOptions) -> Self {
        Self {
            options,
            logits: Vec::new(),
            penalised: Vec::new(),
            choices: 0,
            candidates: Candidates::default(),
            heap: Vec::new(),
        }
    }

    /// Chooses the next token from `logits [V]`. `seen` are all tokens so far, including the
    /// prompt, and `uniform` is a random number in `[0, 1)`.
    ///
    /// # Panics
    /// If `logits` is empty, or a token in `seen` is outside the vocabulary. Also if a logit is NaN
    /// and top-k or top-p is applied (at a temperature above 0), because NaN has no order. (If both
    /// are off, NaN causes no panic, and the largest logit is chosen, as in week 1.)
    pub fn choose(&mut self, logits: &[f32], seen: &[u32], uniform: f64) -> u32 {
        let SamplerOptions { temperature, top_k, top_p, min_p, repetition_penalty } = self.options;
        self.logits.clear();
        self.logits.extend_from_slice(logits);
        if repetition_penalty != 1.0 {
            self.penalise(seen, repetition_penalty);
        }
        let best = argmax(&self.logits);
        if temperature == 0.0 {
            return best;
        }
        self.candidates.vocabulary = logits.len();
        self.candidates.tokens.clear();
        for (id, logit) in self.logits.iter().enumerate() {
            let logit = logit / temperature;
            if logit != f32::NEG_INFINITY {
                self.candidates.tokens.push(Candidate { id: id as u32, logit });
            }
        }
        if top_k > 0 {
            self.candidates.top_k(top_k);
        }
        if top_p < 1.0 {
            self.candidates.top_p(top_p, &mut self.heap);
        }
        if min_p > 0.0 {
            self.candidates.min_p(min_p);
        }
        self.candidates.draw(best, uniform)
    }

    /// Penalises each distinct token of `seen` once.
    fn penalise(&mut self, seen: &[u32], penalty: f32) {
        self.choices += 1;
        self.penalised.resize(self.logits.len(), 0);
        for &token in seen {
            let last = std::mem::replace(&mut self.penalised[token as usize], self.choices);
            if last != self.choices {
                let logit = &mut self.logits[token as usize];
                *logit = if *logit > 0.0 { *logit / penalty } else { *logit * penalty };
            }
        }
    }
}

impl Candidates {
    fn top_k(&mut self, k: usize) {
        self.assert_ordered();
        if k < self.tokens.len() {
            self.tokens.select_nth_unstable_by(k, |a, b| b.cmp(a));
            self.tokens.truncate(k);
            self.tokens.sort_unstable_by_key(|token| token.id);
        }
    }

    /// Keeps the most probable candidates, just enough that their probabilities add up to at least
    /// `p`. `heap` is scratch memory.
    fn top_p(&mut self, p: f32, heap: &mut Vec<Candidate>) {
        self.assert_ordered();
        let Some((max, sum)) = self.weigh() else { return };
        heap.clear();
        heap.extend_from_slice(&self.tokens);
        let mut ranks = BinaryHeap::from(std::mem::take(heap));
        // `mass` is an f64, because rounding errors add up over the many thousands of tokens of a
        // vocabulary.
        let mut mass = 0.0;
        let mut last = None;
        while let Some(next) = ranks.peek() {
            if last.is_some() && mass >= f64::from(p) {
                break;
            }
            mass += f64::from((next.logit - max).exp() / sum);
            last = ranks.pop();
        }
        *heap = ranks.into_vec();
        if let Some(last) = last {
            self.tokens.retain(|token| *token >= last);
        }
    }

    fn min_p(&mut self, p: f32) {
        let max = self.max();
        self.tokens.retain(|token| {
            // A NaN logit is kept, as in week 1.
            let ratio = (token.logit - max).exp();
            !matches!(ratio.partial_cmp(&p), Some(Ordering::Less))
        });
    }

    /// Returns the first token at which the running sum of probabilities exceeds `uniform`.
    fn draw(&mut self, best: u32, uniform: f64) -> u32 {
        // If all candidates are ruled out, week 1 takes token 0.
        let mut last = if self.tokens.is_empty() { 0 } else { best };
        let Some((_, sum)) = self.weigh() else { return last };
        let mut running = 0.0;
        for (token, weight) in self.tokens.iter().zip(&self.weights) {
            let probability = weight / sum;
            if probability > 0.0 {
                last = token.id;
                running += f64::from(probability);
                if running > uniform {
                    return last;
                }
            }
        }
        last
    }

    /// Computes `e^(logit − max)` of each candidate. Returns the largest logit and the sum of the
    /// weights, or `None` if there are no candidates or all their logits are NaN.
    ///
    /// The additions have the order in which `ndarray` adds the whole vocabulary, where the weights
    /// of all other tokens are 0: eight sums of every eighth token, then the remaining tokens.
    fn weigh(&mut self) -> Option<(f32, f32)> {
        let max = self.max();
        if max == f32::NEG_INFINITY {
            self.weights.clear();
            self.tokens.clear();
            return None;
        }
        let mut lanes = [0f32; 8];
        let whole = self.vocabulary / 8 * 8;
        let weights = self.tokens.iter().map(|token| (token.logit - max).exp());
        self.weights.clear();
        self.weights.extend(weights);
        let split = self.tokens.partition_point(|token| (token.id as usize) < whole);
        for (token, weight) in self.tokens[..split].iter().zip(&self.weights) {
            lanes[token.id as usize % 8] += weight;
        }
        let [a, b, c, d, e, f, g, h] = lanes;
        let of_lanes = 0.0 + (a + e) + (b + f) + (c + g) + (d + h);
        Some((max, self.weights[split..].iter().fold(of_lanes, |sum, weight| sum + weight)))
    }

    /// Returns the largest logit, ignoring NaN.
    fn max(&self) -> f32 {
        self.tokens.iter().fold(f32::NEG_INFINITY, |max, token| max.max(token.logit))
    }

    fn assert_ordered(&self) {
        assert!(self.tokens.iter().all(|token| !token.logit.is_nan()), "no logit is NaN");
    }
}

/// Candidates are ordered by logit. If logits are equal, the one with the lower id counts as the
/// larger.
impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let logits = self.logit.partial_cmp(&other.logit).expect("no logit is NaN");
        logits.then(other.id.cmp(&self.id))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

/// Returns the index of the largest logit, the first if several are equal.
fn argmax(logits: &[f32]) -> u32 {
    assert!(!logits.is_empty(), "expected at least one logit");
    let larger = |best: usize, i: usize| if logits[i] > logits[best] { i } else { best };
    (1..logits.len()).fold(0, larger) as u32
}
