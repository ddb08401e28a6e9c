//! Measures with the shapes of real models: concurrent sequences compared with llama.cpp, the
//! longest inter-token latency while a long prompt is admitted, pages compared with a contiguous
//! cache, and a shared prompt.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

use super::{
    super::{
        Shape,
        peers::{self, Peer, Rates},
        week2::{engine::Engine, median},
    },
    load,
    served::{Served, serve},
};
use crate::progress::Line;

/// Returns the shapes that `--full` measures.
pub(super) fn all() -> Vec<Shape> {
    ["tinyllama-1.1b:q4_k_m", "tinyllama-1.1b:q4_0", "smollm2-360m:q8_0", "smollm2-360m:q4_0"]
        .map(|text| text.parse().expect("MODEL:TYPE"))
        .into()
}

/// Number of tokens in each prompt.
const PROMPT: usize = 128;
/// Numbers of sequences that decode together.
const SEQUENCES: [usize; 4] = [1, 4, 8, 16];
/// Number of requests that decode while a long prompt arrives.
const OTHERS: usize = 7;
/// Policies for the long prompt: in one step, with a budget of rows per step, or with a time limit
/// of three decode-only steps.
const POLICIES: [(&str, [&str; 4]); 3] = [
    ("no budget", ["--budget", "0", "--gap", "0"]),
    ("64 rows", ["--budget", "64", "--gap", "0"]),
    ("3 decode steps", ["--budget", "0", "--gap", "3"]),
];

/// One line of results.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Figure {
    pub(super) what: String,
    pub(super) ours: f64,
    /// The peers' results, each with its faster layout.
    pub(super) theirs: Vec<f64>,
    pub(super) note: String,
}

impl Figure {
    /// Creates a figure without peers' results.
    pub(super) fn ours(what: impl Into<String>, ours: f64, note: String) -> Self {
        Self { what: what.into(), ours, theirs: Vec::new(), note }
    }
}

/// Measures one shape.
pub(super) struct Bench<'a> {
    pub(super) engine: &'a Engine,
    pub(super) peers: &'a [Peer],
    pub(super) folder: &'a Path,
    pub(super) threads: Option<u16>,
    pub(super) new: usize,
    pub(super) pairs: usize,
}

impl Bench<'_> {
    /// Measures inter-token latencies while a long prompt arrives, a paged cache, and a shared
    /// prompt.
    pub(super) fn scheduling(&self, model: &Path, line: &mut Line) -> Result<Vec<Figure>> {
        line.show("measuring: the longest gap while a prompt of 1,000 tokens is admitted");
        let mut figures = self.gaps(model)?;
        line.show("measuring: paged and contiguous cache");
        figures.push(self.pages(model)?);
        line.show("measuring: 16 requests that share a prompt of 500 tokens");
        figures.extend(self.shared(model)?);
        Ok(figures)
    }

    /// Compares the peers' decoding with the memory bandwidth.
    pub(super) fn check(&self, model: &Path) -> Result<String> {
        peers::check(self.engine, self.peers, model, peers::threads(self.threads))
    }

    fn trace(&self) -> PathBuf {
        self.folder.join("week3-shape.jsonl")
    }

    fn serve(&self, model: &Path, options: &[&str]) -> Result<Served> {
        let trace = self.trace();
        let mut words: Vec<String> = options.iter().map(|&word| word.to_owned()).collect();
        words.extend(["--trace".to_owned(), trace.to_string_lossy().into_owned()]);
        words.extend(self.threads.map(|n| format!("-j{n}")));
        serve(self.engine, model, &words)
    }

    /// Measures 1, 4, 8 and 16 sequences with prompts of 128 tokens, each engine with both layouts
    /// of weights. Our engine runs first in one round and last in the next.
    pub(super) fn decode(&self, model: &Path, line: &mut Line) -> Result<Vec<Figure>> {
        let threads = peers::threads(self.threads);
        let mut ours = vec![Rates::default(); SEQUENCES.len()];
        let mut theirs = vec![vec![Rates::default(); SEQUENCES.len()]; self.peers.len()];
        for pair in 0..self.pairs {
            line.show(&format!("measuring: sequences at once, round {}", pair + 1));
            let mut own = || -> Result<()> {
                for (n, rates) in SEQUENCES.into_iter().zip(&mut ours) {
                    load::alike(&self.trace(), n, PROMPT, self.new)?;
                    let at_most = n.to_string();
                    let options = ["--budget", "512", "-c", "512", "--max-batch", &at_most];
                    let options = [&["--pages", "0"][..], &options].concat();
                    rates.round(|repack| {
                        let layout: &[&str] = if repack { &["--repack"] } else { &[] };
                        let served = self.serve(model, &[&options[..], layout].concat())?;
                        served.decode_rate(n).context("no gap")
                    })?;
                }
                Ok(())
            };
            if pair % 2 == 0 {
                own()?;
            }
            for (peer, theirs) in self.peers.iter().zip(&mut theirs) {
                let sizes = (PROMPT, self.new);
                let measure = |repack| peer.batched(model, threads, sizes, &SEQUENCES, repack);
                let [plain, repacked] = [measure(false)?, measure(true)?];
                for (i, rates) in theirs.iter_mut().enumerate() {
                    rates.round(|repack| Ok(if repack { repacked[i] } else { plain[i] }))?;
                }
            }
            if pair % 2 == 1 {
                own()?;
            }
        }
        let ours: Vec<f64> = ours.iter().map(Rates::median).collect();
        let figure = |(i, n): (usize, usize)| Figure {
            what: format!("decode, {n} requests at once, tokens/s"),
            ours: ours[i],
            theirs: theirs.iter().map(|rates: &Vec<Rates>| rates[i].median()).collect(),
            note: if i == 0 {
                String::new()
            } else {
                format!("{:.2} × one request alone", ours[i] / ours[0])
            },
        };
        Ok(SEQUENCES.into_iter().enumerate().map(figure).collect())
    }

    /// Measures the longest inter-token latency while a long prompt arrives, relative to the
    /// median.
    fn gaps(&self, model: &Path) -> Result<Vec<Figure>> {
        load::interrupted(&self.trace(), OTHERS, 4 * self.new, 1.0)?;
        let figure = |(policy, options): &(&str, [&str; 4])| {
            let always = ["--max-batch", "8", "--pages", "0", "-c", "1024"];
            // The longest latency is a single step out of many hundreds, so it includes anything
            // else that the machine did at that moment. The run with the median ratio counts.
            let mut runs = (0..self.pairs.max(3))
                .map(|_| {
                    let served = self.serve(model, &[&always[..], options].concat())?;
                    let usual = served.gap_s.median.context("no gap")?;
                    let longest = served.longest_gap_s.p99.context("no gap")?;
                    let first = served.first_token_s.p99.context("no first token")?;
                    Ok((longest / usual, longest, usual, first))
                })
                .collect::<Result<Vec<_>>>()?;
            runs.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (ratio, longest, usual, first) = runs[runs.len() / 2];
            let note = format!(
                "{:.0} ms / {:.0} ms; first token {first:.2} s",
                1e3 * longest,
                1e3 * usual
            );
            Ok(Figure::ours(format!("longest gap / median gap, {policy}"), ratio, note))
        };
        POLICIES.iter().map(figure).collect()
    }

    /// Measures decoding after 1,000 tokens, with a paged and with a contiguous cache in turn.
    fn pages(&self, model: &Path) -> Result<Figure> {
        load::alike(&self.trace(), 1, 1000, self.new)?;
        let gap = |pages: &str| {
            let options = ["--max-batch", "1", "--pages", pages, "--budget", "512", "-c", "1152"];
            self.serve(model, &options)?.gap_s.median.context("no gap")
        };
        let pairs = (0..self.pairs.max(3))
            .map(|_| Ok((gap("36")?, gap("0")?)))
            .collect::<Result<Vec<_>>>()?;
        let note = format!("{:.1} ms per token in pages", 1e3 * median(pairs.iter().map(|p| p.0)));
        let ratio = median(pairs.iter().map(|(pages, dense)| pages / dense));
        Ok(Figure::ours("paged / contiguous cache, time per token after 1,000 tokens", ratio, note))
    }

    /// Measures 16 requests that share a prefix of 500 tokens, and 16 that don't.
    fn shared(&self, model: &Path) -> Result<Vec<Figure>> {
        let load = |shared: &str, own: &str| {
            let mut words: Vec<String> = ["--requests", "16", "--rate", "1000000", "--spread", "0"]
                .into_iter()
                .chain(["--prompt-tokens", own, "--answer-tokens", "32", "--share-prefixes"])
                .chain(["--shared-prompts", shared, "--shared-tokens", "500"])
                .chain(["--max-batch", "16", "--budget", "512", "--pages", "320", "-c", "1024"])
                .map(str::to_owned)
                .collect();
            words.extend(self.threads.map(|n| format!("-j{n}")));
            serve(self.engine, model, &words)
        };
        let (one, many) = (load("1", "20")?, load("0", "520")?);
        let rates = (one.tokens_per_second, many.tokens_per_second);
        Ok(vec![
            Figure::ours(
                "16 requests sharing 500 tokens, new tokens/s",
                rates.0,
                format!(
                    "{:.2} × the {:.1} tokens/s of 16 requests that share nothing",
                    rates.0 / rates.1,
                    rates.1
                ),
            ),
            Figure::ours(
                "prompt rows that were computed",
                one.prompt_rows() as f64,
                format!(
                    "of {} prompt tokens; without sharing: {}",
                    one.prompt_tokens,
                    many.prompt_rows()
                ),
            ),
        ])
    }
}
