//! Figures at the shapes of real models: several sequences at once beside llama.cpp, the longest gap
//! while a long prompt is let in, pages beside one piece, and a prompt that many share.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::{
    super::week2::{engine::Engine, median},
    load,
    served::{Served, serve},
};
use crate::{process::run_quietly, progress::Line};

/// A model's shape and a file type, as `tinyllama-1.1b:q4_k_m`.
#[derive(Debug, Clone)]
pub(in crate::bench) struct Shape {
    pub(super) like: String,
    pub(super) file_type: String,
}

impl std::str::FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (like, file_type) = text.split_once(':').ok_or("expected MODEL:TYPE")?;
        Ok(Self { like: like.to_owned(), file_type: file_type.to_owned() })
    }
}

/// Those that week 3 is about.
pub(super) fn all() -> Vec<Shape> {
    ["tinyllama-1.1b:q4_k_m", "tinyllama-1.1b:q4_0", "smollm2-360m:q8_0", "smollm2-360m:q4_0"]
        .map(|text| text.parse().expect("MODEL:TYPE"))
        .into()
}

/// Sequences that decode together.
const SEQUENCES: [usize; 4] = [1, 4, 8, 16];
/// Requests that decode while a long prompt comes.
const OTHERS: usize = 7;
/// How: in one step, with so many rows a step, or as long as three times those that decode.
const POLICIES: [(&str, [&str; 4]); 3] = [
    ("no budget", ["--budget", "0", "--gap", "0"]),
    ("64 rows", ["--budget", "64", "--gap", "0"]),
    ("3 times the readers", ["--budget", "0", "--gap", "3"]),
];

/// One line of numbers.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Figure {
    pub(super) what: String,
    pub(super) ours: f64,
    /// llama.cpp's, without AMX and with it where it runs.
    pub(super) theirs: Option<f64>,
    pub(super) with_amx: Option<f64>,
    /// Ours with it, where the comparison is without.
    pub(super) ours_with_amx: Option<f64>,
    pub(super) note: String,
}

/// What llama.cpp says of a file.
#[derive(Debug, Deserialize)]
struct Batched {
    batches: Vec<Batches>,
    amx: bool,
}

#[derive(Debug, Deserialize)]
struct Batches {
    sequences: usize,
    decode_tokens_per_second: f64,
}

/// How to measure.
pub(super) struct Bench<'a> {
    pub(super) engine: &'a Engine,
    /// Whether the machine has a matrix unit, which batches are measured without, too.
    pub(super) has_amx: bool,
    /// A Python that has llama-cpp-python, and the program.
    pub(super) peer: Option<[PathBuf; 2]>,
    pub(super) folder: &'a Path,
    pub(super) threads: Option<u16>,
    pub(super) new: usize,
    pub(super) pairs: usize,
}

impl Bench<'_> {
    /// All figures of a file.
    pub(super) fn measure(&self, model: &Path, line: &mut Line) -> Result<Vec<Figure>> {
        let mut figures = self.decode(model, line)?;
        line.show("measuring: the longest gap while a prompt of 1,000 is let in");
        figures.extend(self.gaps(model)?);
        line.show("measuring: pages beside one piece");
        figures.push(self.pages(model)?);
        line.show("measuring: a prompt of 500 that sixteen share");
        figures.extend(self.shared(model)?);
        Ok(figures)
    }

    fn trace(&self) -> PathBuf {
        self.folder.join("week3-shape.jsonl")
    }

    fn serve(&self, model: &Path, options: &[&str]) -> Result<Served> {
        self.serve_with(self.engine, model, options)
    }

    fn serve_with(&self, engine: &Engine, model: &Path, options: &[&str]) -> Result<Served> {
        let trace = self.trace();
        let mut words: Vec<String> = options.iter().map(|&word| word.to_owned()).collect();
        words.extend(["--trace".to_owned(), trace.to_string_lossy().into_owned()]);
        words.extend(self.threads.map(|n| format!("-j{n}")));
        serve(engine, model, &words)
    }

    /// 1, 4, 8 and 16 sequences, prompts of 128.
    pub(super) fn decode(&self, model: &Path, line: &mut Line) -> Result<Vec<Figure>> {
        line.show("measuring: llama.cpp");
        let without = self.batched(model, true)?;
        let with = self.batched(model, false)?.filter(|with| with.amx);
        let of = |batched: &Option<Batched>, n: usize| {
            let all = batched.as_ref()?.batches.iter();
            all.clone().find(|one| one.sequences == n).map(|one| one.decode_tokens_per_second)
        };
        let mut figures: Vec<Figure> = Vec::new();
        let hidden = self.engine.without_amx();
        for n in SEQUENCES {
            line.show(&format!("measuring: {n} sequences"));
            load::alike(&self.trace(), n, 128, self.new)?;
            let places = n.to_string();
            let options = ["--max-batch", &places, "--pages", "0", "--budget", "512", "-c", "512"];
            let rate = |engine: &Engine| {
                self.serve_with(engine, model, &options)?.decode_rate(n).context("no gap")
            };
            let both = (0..self.pairs)
                .map(|_| {
                    let with = self.has_amx.then(|| rate(self.engine)).transpose()?;
                    Ok((rate(&hidden)?, with))
                })
                .collect::<Result<Vec<_>>>()?;
            let ours = median(both.iter().map(|(without, _)| *without));
            let ours_with_amx =
                self.has_amx.then(|| median(both.iter().filter_map(|(_, with)| *with)));
            let alone = figures.first().map(|one| ours / one.ours);
            figures.push(Figure {
                what: format!("decode of {n} at once, tokens/s"),
                ours,
                theirs: of(&without, n),
                with_amx: of(&with, n),
                ours_with_amx,
                note: alone.map(|x| format!("{x:.2} × one alone")).unwrap_or_default(),
            });
        }
        Ok(figures)
    }

    /// llama.cpp at its best for each number of sequences; `None` if it is not installed. What it
    /// does with AMX is left out where it does not survive it.
    fn batched(&self, model: &Path, without_amx: bool) -> Result<Option<Batched>> {
        let Some([python, program]) = &self.peer else { return Ok(None) };
        let mut command = Command::new(python);
        command.arg(program).arg(model).args(["--prompt-tokens", "128"]);
        command.arg("-n").arg(self.new.to_string());
        command.args(self.threads.map(|n| format!("-j{n}")));
        command.args(without_amx.then_some("--without-amx"));
        let finished = run_quietly(&mut command)?;
        if !finished.status.success() {
            if without_amx {
                bail!("llama.cpp: {}", finished.tail(1));
            }
            return Ok(None);
        }
        let line = finished.output.lines().find(|line| line.starts_with('{'));
        let line = line.context("llama.cpp printed no measurement")?;
        Ok(Some(serde_json::from_str(line).context("llama.cpp printed another measurement")?))
    }

    /// The longest gap of those that decode, by their usual one.
    fn gaps(&self, model: &Path) -> Result<Vec<Figure>> {
        load::interrupted(&self.trace(), OTHERS, 4 * self.new, 1.0)?;
        let figure = |(policy, options): &(&str, [&str; 4])| {
            let always = ["--max-batch", "8", "--pages", "0", "-c", "1024"];
            // The longest gap is one step out of many hundred: whatever else the machine did in
            // that moment is in it.
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
            Ok(Figure {
                what: format!("longest gap / usual one, {policy}"),
                ours: ratio,
                theirs: None,
                with_amx: None,
                ours_with_amx: None,
                note: format!(
                    "{:.0} ms / {:.0} ms; first token {first:.2} s",
                    1e3 * longest,
                    1e3 * usual
                ),
            })
        };
        POLICIES.iter().map(figure).collect()
    }

    /// Decoding behind 1,000 tokens, in turns.
    fn pages(&self, model: &Path) -> Result<Figure> {
        load::alike(&self.trace(), 1, 1000, self.new)?;
        let gap = |pages: &str| {
            let options = ["--max-batch", "1", "--pages", pages, "--budget", "512", "-c", "1152"];
            self.serve(model, &options)?.gap_s.median.context("no gap")
        };
        let pairs = (0..self.pairs.max(3))
            .map(|_| Ok((gap("36")?, gap("0")?)))
            .collect::<Result<Vec<_>>>()?;
        Ok(Figure {
            what: "pages / one piece, a token after 1,000".to_owned(),
            ours: median(pairs.iter().map(|(pages, dense)| pages / dense)),
            theirs: None,
            with_amx: None,
            ours_with_amx: None,
            note: format!("{:.1} ms a token in pages", 1e3 * median(pairs.iter().map(|p| p.0))),
        })
    }

    /// Sixteen requests with a prompt of 500 in common, beside sixteen others.
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
        let figure = |what: &str, ours, note| Figure {
            what: what.to_owned(),
            ours,
            theirs: None,
            with_amx: None,
            ours_with_amx: None,
            note,
        };
        let rates = (one.tokens_per_second, many.tokens_per_second);
        Ok(vec![
            figure(
                "16 with a prompt of 500 in common, new tokens/s",
                rates.0,
                format!("{:.2} × as many unrelated ones, {:.1}", rates.0 / rates.1, rates.1),
            ),
            figure(
                "rows of their prompts that were computed",
                one.prompt_rows() as f64,
                format!("of {}; unrelated ones {}", one.prompt_tokens, many.prompt_rows()),
            ),
        ])
    }
}

/// A file with random weights of a shape; it is gone at the end.
pub(in crate::bench) struct Model(pub(in crate::bench) PathBuf);

impl Model {
    pub(in crate::bench) fn write(engine: &Engine, folder: &Path, shape: &Shape) -> Result<Self> {
        let path = folder.join(format!("{}-{}.gguf", shape.like, shape.file_type));
        let _ = fs::remove_file(&path);
        let out = path.to_string_lossy();
        engine.run(&["synth", "--like", &shape.like, "--type", &shape.file_type, "--out", &out])?;
        Ok(Self(path.clone()))
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
