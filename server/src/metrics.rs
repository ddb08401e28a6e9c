//! Metrics of the server, in Prometheus' text format.

use std::{
    fmt::Write as _,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tiny_llm_cli::{BatchCounts, PageCounts};

/// Bucket bounds in seconds, from a millisecond to a minute.
const SECONDS: [f64; 14] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0];
/// Bucket bounds for the rows of a step.
const ROWS: [f64; 11] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

/// Counts values per bucket.
pub(crate) struct Histogram {
    bounds: &'static [f64],
    /// One count per bucket: one bucket for each bound, and one for larger values.
    counts: Vec<AtomicU64>,
    /// Sum of all values, in millionths.
    sum: AtomicU64,
}

impl Histogram {
    fn new(bounds: &'static [f64]) -> Self {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, counts, sum: AtomicU64::new(0) }
    }

    /// Counts a value.
    pub(crate) fn note(&self, x: f64) {
        let place = self.bounds.partition_point(|&bound| bound < x);
        self.counts[place].fetch_add(1, Relaxed);
        self.sum.fetch_add((x * 1e6) as u64, Relaxed);
    }

    /// Counts a time, converted to seconds.
    pub(crate) fn time(&self, time: Duration) {
        self.note(time.as_secs_f64());
    }

    fn write(&self, name: &str, help: &str, out: &mut String) {
        head(name, help, "histogram", out);
        let mut all = 0;
        let bounds = self.bounds.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
        for (bound, count) in bounds.zip(&self.counts) {
            all += count.load(Relaxed);
            let _ = writeln!(out, "{name}_bucket{{le=\"{bound}\"}} {all}");
        }
        let _ = writeln!(out, "{name}_sum {}", self.sum.load(Relaxed) as f64 / 1e6);
        let _ = writeln!(out, "{name}_count {all}");
    }
}

/// All metrics.
pub(crate) struct Metrics {
    /// Number of answers that ended for each of the reasons in [`Ended`].
    pub(crate) ended: [AtomicU64; 5],
    /// How many chat and completion requests their handler refused: with a 4xx status other than
    /// 429, and with status 429, because the queue had no room.
    pub(crate) refused: [AtomicU64; 2],
    /// Number of open connections.
    pub(crate) connections: AtomicU64,
    /// Number of prompt tokens that were submitted to the engine, and number of generated tokens.
    pub(crate) tokens: [AtomicU64; 2],
    /// Number of answers that are running now, and number that wait for a batch slot.
    pub(crate) now: [AtomicU64; 2],
    /// Time to first token.
    pub(crate) first_token: Histogram,
    /// Inter-token latency of all answers.
    pub(crate) between: Histogram,
    /// Number of rows per step.
    pub(crate) rows: Histogram,
    /// The engine's totals.
    counts: Mutex<BatchCounts>,
}

/// Why an answer ended. The values are indices into [`Metrics::ended`].
#[derive(Clone, Copy)]
pub(crate) enum Ended {
    /// The answer was completed.
    Done,
    /// The client left.
    Left,
    /// The client read too slowly.
    Slow,
    /// The server failed or shut down, or the engine refused another answer to the same request.
    Cut,
    /// The logits of this answer, or of another answer to the same request, were NaN or infinite.
    NotFinite,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        Self {
            ended: Default::default(),
            refused: Default::default(),
            connections: AtomicU64::new(0),
            tokens: Default::default(),
            now: Default::default(),
            first_token: Histogram::new(&SECONDS),
            between: Histogram::new(&SECONDS),
            rows: Histogram::new(&ROWS),
            counts: Mutex::default(),
        }
    }

    /// Counts an answer that ended for the reason `how`.
    pub(crate) fn over(&self, how: Ended) {
        self.ended[how as usize].fetch_add(1, Relaxed);
    }

    /// Stores the current counts of the engine.
    pub(crate) fn engine(&self, counts: BatchCounts) {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner) = counts;
    }

    /// Returns all metrics in Prometheus' text format.
    pub(crate) fn text(&self) -> String {
        let counts = *self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = String::new();
        let [running, waiting] = self.now.each_ref().map(|n| n.load(Relaxed));
        let connections = self.connections.load(Relaxed);
        gauge("connections", "Open connections.", connections, &mut out);
        gauge("requests_running", "Answers being computed.", running, &mut out);
        gauge("requests_waiting", "Answers waiting for a slot.", waiting, &mut out);
        let ended = self.ended.each_ref().map(|n| n.load(Relaxed));
        let hows = ["done", "left", "slow", "cut", "not_finite"];
        labelled("answers", "Finished answers, by finish reason.", "how", &hows, &ended, &mut out);
        let refused = self.refused.each_ref().map(|n| n.load(Relaxed));
        let whys = ["invalid", "full"];
        labelled(
            "refused",
            "Requests that were refused, by reason.",
            "why",
            &whys,
            &refused,
            &mut out,
        );
        let [prompt, new] = self.tokens.each_ref().map(|n| n.load(Relaxed));
        counter("prompt_tokens", "Prompt tokens of accepted requests.", prompt, &mut out);
        counter("new_tokens", "Tokens of answers.", new, &mut out);
        counter("steps", "Forward passes.", counts.steps, &mut out);
        counter("rows", "Rows in all forward passes.", counts.rows, &mut out);
        if let Some(PageCounts { pages, used, preempted, found, .. }) = counts.pages {
            gauge("pages", "Pages for keys and values.", pages as u64, &mut out);
            gauge("pages_used", "Pages in use.", used as u64, &mut out);
            let help = "Preemptions: how often a running request lost its pages and had to wait.";
            counter("preemptions", help, preempted, &mut out);
            if let Some((found, asked)) = found {
                let help = "Prompt tokens looked up in the prefix cache.";
                counter("prefix_tokens_asked", help, asked, &mut out);
                let help = "Prompt tokens found in the prefix cache and not computed again.";
                counter("prefix_tokens_found", help, found, &mut out);
            }
        }
        if let Some((accepted, drafted)) = counts.drafts {
            counter("drafted", "Draft tokens that were proposed.", drafted, &mut out);
            counter("drafts_accepted", "Draft tokens that were accepted.", accepted, &mut out);
        }
        let name = "tiny_llm_time_to_first_token_seconds";
        self.first_token.write(name, "Time from a request's arrival to its first token.", &mut out);
        let name = "tiny_llm_time_between_tokens_seconds";
        self.between.write(name, "Time between two consecutive tokens of an answer.", &mut out);
        self.rows.write("tiny_llm_step_rows", "Rows of a forward pass.", &mut out);
        out
    }
}

fn head(name: &str, help: &str, kind: &str, out: &mut String) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn gauge(name: &str, help: &str, x: u64, out: &mut String) {
    head(&format!("tiny_llm_{name}"), help, "gauge", out);
    let _ = writeln!(out, "tiny_llm_{name} {x}");
}

fn counter(name: &str, help: &str, x: u64, out: &mut String) {
    head(&format!("tiny_llm_{name}_total"), help, "counter", out);
    let _ = writeln!(out, "tiny_llm_{name}_total {x}");
}

fn labelled(name: &str, help: &str, label: &str, of: &[&str], xs: &[u64], out: &mut String) {
    head(&format!("tiny_llm_{name}_total"), help, "counter", out);
    for (value, x) in of.iter().zip(xs) {
        let _ = writeln!(out, "tiny_llm_{name}_total{{{label}=\"{value}\"}} {x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_counts_values_up_to_each_bound() {
        let histogram = Histogram::new(&[1.0, 2.0]);
        for x in [0.5, 1.0, 1.5, 7.0] {
            histogram.note(x);
        }
        let mut text = String::new();
        histogram.write("x", "Help.", &mut text);
        for line in [
            "# TYPE x histogram",
            "x_bucket{le=\"1\"} 2",
            "x_bucket{le=\"2\"} 3",
            "x_bucket{le=\"+Inf\"} 4",
            "x_sum 10",
            "x_count 4",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
    }
}
