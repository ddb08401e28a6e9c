//! How fast a generation was.

use std::time::{Duration, Instant};

/// Takes the time of a generation.
pub(super) struct Stopwatch {
    prompt_tokens: usize,
    start: Instant,
    /// When the first new token came, and the latest.
    came: Option<(Instant, Instant)>,
    new_tokens: usize,
}

impl Stopwatch {
    pub(super) fn start(prompt_tokens: usize) -> Self {
        Self { prompt_tokens, start: Instant::now(), came: None, new_tokens: 0 }
    }

    /// To be called for each new token.
    pub(super) fn token(&mut self) {
        let now = Instant::now();
        self.new_tokens += 1;
        self.came = Some((self.came.map_or(now, |(first, _)| first), now));
    }

    pub(super) fn stop(self) -> Speed {
        let (first, last) = self.came.unwrap_or_else(|| (Instant::now(), Instant::now()));
        Speed {
            prompt_tokens: self.prompt_tokens,
            new_tokens: self.new_tokens,
            prefill: first - self.start,
            decode: last - first,
        }
    }
}

/// Prefill is all work until the first new token; decode is the rest, and makes every new token but
/// the first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speed {
    pub(super) prompt_tokens: usize,
    pub(super) new_tokens: usize,
    pub(super) prefill: Duration,
    pub(super) decode: Duration,
}

impl Speed {
    /// Tokens of the prompt per second, until the first new token.
    pub(super) fn prefill_rate(&self) -> f64 {
        rate(self.prompt_tokens, self.prefill)
    }

    /// Tokens made by decode.
    pub(super) fn decoded(&self) -> usize {
        self.new_tokens.saturating_sub(1)
    }

    /// New tokens per second, after the first; `None` if there were no more.
    pub(super) fn decode_rate(&self) -> Option<f64> {
        (self.decoded() > 0).then(|| rate(self.decoded(), self.decode))
    }

    /// `4 tokens, 512.0 tokens/s`
    pub(super) fn prefill_text(&self) -> String {
        format!("{} tokens, {:.1} tokens/s", self.prompt_tokens, self.prefill_rate())
    }

    /// `63 tokens, 80.0 tokens/s`
    pub(super) fn decode_text(&self) -> String {
        self.decode_rate().map_or("none".to_owned(), |rate| {
            format!("{} tokens, {rate:.1} tokens/s", self.decoded())
        })
    }
}

fn rate(tokens: usize, time: Duration) -> f64 {
    tokens as f64 / time.as_secs_f64().max(1e-9)
}
