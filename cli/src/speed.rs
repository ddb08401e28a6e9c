//! Speed of a generation.

use std::time::{Duration, Instant};

/// Measures the time of a generation.
pub(super) struct Stopwatch {
    prompt_tokens: usize,
    start: Instant,
    /// Times of the first and the latest new token.
    came: Option<(Instant, Instant)>,
    new_tokens: usize,
}

impl Stopwatch {
    pub(super) fn start(prompt_tokens: usize) -> Self {
        Self { prompt_tokens, start: Instant::now(), came: None, new_tokens: 0 }
    }

    /// Records a new token.
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

/// Speed of prefill and decode. Prefill lasts until the first new token, and decode generates all
/// others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speed {
    pub(super) prompt_tokens: usize,
    pub(super) new_tokens: usize,
    pub(super) prefill: Duration,
    pub(super) decode: Duration,
}

impl Speed {
    /// Returns the prefill speed: prompt tokens per second until the first new token.
    pub(super) fn prefill_rate(&self) -> f64 {
        rate(self.prompt_tokens, self.prefill)
    }

    /// Returns the number of tokens generated during decode.
    pub(super) fn decoded(&self) -> usize {
        self.new_tokens.saturating_sub(1)
    }

    /// Returns the decode speed: the new tokens after the first, per second. Returns `None` if
    /// there are fewer than two new tokens.
    pub(super) fn decode_rate(&self) -> Option<f64> {
        (self.decoded() > 0).then(|| rate(self.decoded(), self.decode))
    }

    /// Formats the prefill speed, for example `4 tokens, 512.0 tokens/s`. If there is no new token,
    /// the text says that the prompt was not computed.
    pub(super) fn prefill_text(&self) -> String {
        if self.new_tokens == 0 {
            return format!("0 of {} computed", counted(self.prompt_tokens));
        }
        format!("{}, {:.1} tokens/s", counted(self.prompt_tokens), self.prefill_rate())
    }

    /// Formats the prefill speed and the time to first token.
    pub(super) fn first_token_text(&self) -> String {
        let prefill = self.prefill_text();
        if self.new_tokens == 0 {
            return prefill;
        }
        format!("{prefill}, first token after {:.3} s", self.prefill.as_secs_f64())
    }

    /// Formats the decode speed, for example `63 tokens, 80.0 tokens/s`.
    pub(super) fn decode_text(&self) -> String {
        self.decode_rate().map_or("none".to_owned(), |rate| {
            format!("{}, {rate:.1} tokens/s", counted(self.decoded()))
        })
    }
}

fn counted(tokens: usize) -> String {
    format!("{tokens} token{}", if tokens == 1 { "" } else { "s" })
}

fn rate(tokens: usize, time: Duration) -> f64 {
    tokens as f64 / time.as_secs_f64().max(1e-9)
}
