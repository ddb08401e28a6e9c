//! Options of a request that the course doesn't teach: penalties for tokens that the answer already
//! has, and log-probabilities of the chosen tokens.

pub use tiny_llm_formats::request::{Chosen, Extras};

/// Applies the penalties of one request, and records its log-probabilities.
#[derive(Debug, Clone)]
pub struct Shaper {
    extras: Extras,
    /// Length of the prompt in tokens. Penalties don't count the prompt's tokens.
    prompt: usize,
    /// Buffer for the logits `[V]` after penalties.
    logits: Vec<f32>,
    chosen: Option<Chosen>,
}

impl Shaper {
    /// Creates the shaper of a request whose prompt has `prompt` tokens. Returns `None` if `extras`
    /// sets no option.
    #[must_use]
    pub fn new(extras: Extras, prompt: usize) -> Option<Box<Self>> {
        let wanted = extras != Extras::default();
        wanted.then(|| Box::new(Self { extras, prompt, logits: Vec::new(), chosen: None }))
    }

    /// Returns whether penalties are set. With penalties, even greedy sampling may choose a token
    /// other than the one with the model's largest logit.
    #[must_use]
    pub fn penalises(&self) -> bool {
        self.extras.presence != 0.0 || self.extras.frequency != 0.0
    }

    /// Returns `logits [V]` minus the penalties for the answer so far. `seen` holds the tokens of
    /// prompt and answer.
    pub fn shape(&mut self, logits: &[f32], seen: &[u32]) -> &[f32] {
        self.logits.clear();
        self.logits.extend_from_slice(logits);
        let mut answer = seen[self.prompt.min(seen.len())..].to_vec();
        answer.sort_unstable();
        for same in answer.chunk_by(|a, b| a == b) {
            let Extras { presence, frequency, .. } = self.extras;
            self.logits[same[0] as usize] -= presence + frequency * same.len() as f32;
        }
        &self.logits
    }

    /// Records the log-probabilities of `token` and of the likeliest tokens. `token` was chosen
    /// from `logits [V]`. Does nothing if the request didn't ask for log-probabilities.
    pub fn note(&mut self, logits: &[f32], token: u32) {
        let Some(top) = self.extras.logprobs else { return };
        let max = logits.iter().fold(f32::NEG_INFINITY, |max, &x| max.max(x));
        let sum: f64 = logits.iter().map(|&x| f64::from(x - max).exp()).sum();
        let logprob = |id: u32| (f64::from(logits[id as usize] - max) - sum.ln()) as f32;
        let mut ids: Vec<u32> = (0..logits.len() as u32).collect();
        let order =
            |&a: &u32, &b: &u32| logits[b as usize].total_cmp(&logits[a as usize]).then(a.cmp(&b));
        let top = top.min(ids.len());
        if top > 0 && top < ids.len() {
            ids.select_nth_unstable_by(top - 1, order);
        }
        ids.truncate(top);
        // Tokens that the grammar forbids are left out: they have no probability.
        ids.retain(|&id| logits[id as usize] > f32::NEG_INFINITY);
        ids.sort_unstable_by(order);
        let top = ids.into_iter().map(|id| (id, logprob(id))).collect();
        self.chosen = Some(Chosen { token, logprob: logprob(token), top });
    }

    /// Removes and returns the log-probability of the last chosen token. Later calls return `None`
    /// until another token is chosen.
    pub fn take(&mut self) -> Option<Chosen> {
        self.chosen.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn penalties_count_the_answer_and_not_the_prompt() {
        let extras = Extras { presence: 1.0, frequency: 0.5, logprobs: None };
        let mut shaper = Shaper::new(extras, 2).expect("penalties");
        assert!(shaper.penalises());
        assert_eq!(shaper.shape(&[0.0; 4], &[0, 0, 1, 2, 1]), [0.0, -2.0, -1.5, 0.0]);
        assert!(shaper.take().is_none());
    }

    #[test]
    fn log_probabilities_are_those_of_the_model() {
        let extras = Extras { logprobs: Some(2), ..Extras::default() };
        let mut shaper = Shaper::new(extras, 0).expect("log-probabilities");
        shaper.note(&[0.0, 3f32.ln(), 0.0, 3f32.ln()], 2);
        let chosen = shaper.take().expect("it was noted");
        let close = |x: f32, y: f32| (x - y).abs() < 1e-6;
        assert!(close(chosen.logprob, 0.125f32.ln()), "{chosen:?}");
        let [(1, first), (3, second)] = chosen.top[..] else { panic!("{chosen:?}") };
        assert!(close(first, 0.375f32.ln()) && close(second, 0.375f32.ln()), "{chosen:?}");
        assert!(shaper.take().is_none() && Shaper::new(Extras::default(), 3).is_none());
    }
}
