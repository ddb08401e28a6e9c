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
        let (first, last) = self.came.unwrap_or((self.start, self.start));
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

    /// `4 tokens, 512.0 tokens/s`; without a new token the prompt was not run.
    pub(super) fn prefill_text(&self) -> String {
        if self.new_tokens == 0 {
            return format!("none of {} tokens", self.prompt_tokens);
        }
        format!("{} tokens, {:.1} tokens/s", self.prompt_tokens, self.prefill_rate())
    }

    /// The same, and how long it took until there was something to read.
    pub(super) fn first_token_text(&self) -> String {
        let prefill = self.prefill_text();
        if self.new_tokens == 0 {
            return prefill;
        }
        format!("{prefill}, first token after {:.3} s", self.prefill.as_secs_f64())
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
