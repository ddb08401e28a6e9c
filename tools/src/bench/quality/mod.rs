//! `cargo course bench quality`: measures the size and the quality of each format.
//!
//! The reference writes a model in every type of `quantize`, and with some combinations of
//! `--tensor`, and runs `score` on each file with the same questions and stories. The results do
//! not depend on the machine's speed: machines with the same kernels give the same numbers.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use clap::{Args, value_parser};
use serde::{Deserialize, Serialize};

use super::{folders, machine, week2::engine::Engine};
use crate::progress::Line;
use recipe::Recipe;
use weights::{Table, relative_error};

mod recipe;
mod table;
mod weights;

/// What to measure, and where the results go.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Model folder [default: models/tiny-story]
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Measure only F32 and the rows whose names contain TEXT
    #[arg(long, value_name = "TEXT")]
    row: Option<String>,
    /// Maximum number of stories, and of questions of each kind [default: all]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    limit: Option<u16>,
    /// Folder for quality.json and quality.md [default: target/course-bench]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// The output of `score --json`.
#[derive(Debug, Clone, Deserialize)]
struct Score {
    exact: Shares,
    asked: Counts,
    perplexity: f64,
    tokens: usize,
    /// For each story, the sum over its tokens.
    negative_log_likelihoods: Vec<f64>,
}

#[derive(Debug, Clone, Deserialize)]
struct Shares {
    all: f64,
}

#[derive(Debug, Clone, Deserialize)]
struct Counts {
    all: usize,
}

impl Score {
    fn right(&self) -> usize {
        (self.exact.all * self.asked.all as f64).round() as usize
    }

    /// Returns the fraction by which the perplexity exceeds that of `other` on the same stories,
    /// and the standard error of this fraction. The stories are a random sample, so the standard
    /// error follows from the variance of the difference between stories.
    fn above(&self, other: &Self) -> Change {
        let pairs = self.negative_log_likelihoods.iter().zip(&other.negative_log_likelihoods);
        let differences: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
        let (n, tokens) = (differences.len() as f64, self.tokens as f64);
        let total: f64 = differences.iter().sum();
        let squares: f64 = differences.iter().map(|x| (x - total / n).powi(2)).sum();
        let standard_error = (n > 1.0).then(|| (squares / (n - 1.0) * n).sqrt() / tokens);
        Change { part: (total / tokens).exp_m1(), standard_error }
    }
}

/// A relative change of the perplexity, measured on a sample of stories.
#[derive(Debug, Clone, Copy, Serialize)]
struct Change {
    part: f64,
    /// `None` if the sample is a single story.
    standard_error: Option<f64>,
}

/// One line of the results.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    /// The arguments of `quantize`.
    arguments: Vec<String>,
    /// Types of the matrices, with the number of matrices of each.
    types: String,
    file_bytes: u64,
    bits_per_weight: f64,
    /// Root mean square of the errors of all matrices' weights, divided by the root mean square of
    /// the weights.
    relative_error: f64,
    perplexity: f64,
    /// Change of the perplexity, relative to the first row.
    change: Change,
    right: usize,
}

/// All results.
#[derive(Debug, Serialize)]
struct Report {
    model: String,
    machine: String,
    questions: usize,
    stories: usize,
    tokens: usize,
    /// Rows. The first is F32.
    rows: Vec<Row>,
    /// Recipes in which this model cannot be written, and the reasons.
    left_out: Vec<(String, String)>,
}

/// Measures and prints the results.
///
/// # Errors
/// If the reference cannot be built or cannot score what it wrote, or a file cannot be written.
pub(super) fn bench(root: &Path, options: &Options) -> Result<()> {
    let [folder, out] = folders(root, options.out.as_deref())?;
    let files = Files {
        plain: folder.join("plain.gguf"),
        written: folder.join("written.gguf"),
        back: folder.join("back.gguf"),
    };
    let model = options.model.clone().unwrap_or_else(|| root.join("models/tiny-story"));
    let measuring =
        Measuring { engine: Engine::reference(root, &folder)?, model, limit: options.limit, files };
    let report = measuring.report(options.row.as_deref().unwrap_or_default())?;

    let text = table::markdown(&report);
    print!("\n{text}");
    let (json, markdown) = (out.join("quality.json"), out.join("quality.md"));
    let written = |path: &Path| format!("{} cannot be written", path.display());
    fs::write(&json, format!("{}\n", serde_json::to_string_pretty(&report)?))
        .with_context(|| written(&json))?;
    fs::write(&markdown, text).with_context(|| written(&markdown))?;
    println!("\nwritten: {}, {}", json.display(), markdown.display());
    Ok(())
}

/// Temporary files.
struct Files {
    /// The model in F32.
    plain: PathBuf,
    /// The model in the types of a recipe.
    written: PathBuf,
    /// The model of the recipe, converted back to F32.
    back: PathBuf,
}

impl Drop for Files {
    fn drop(&mut self) {
        for path in [&self.plain, &self.written, &self.back] {
            let _ = fs::remove_file(path);
        }
    }
}

struct Measuring {
    engine: Engine,
    model: PathBuf,
    limit: Option<u16>,
    files: Files,
}

impl Measuring {
    fn report(&self, wanted: &str) -> Result<Report> {
        let mut line = Line::default();
        line.show("measuring: F32");
        self.quantize(&self.model, &self.files.plain, &Recipe::plain())?;
        let plain = Table::of(&self.engine, &self.files.plain)?;
        let first = self.score(&self.files.plain)?;
        let (mut rows, mut left_out) = (Vec::new(), Vec::new());
        for recipe in Recipe::all(plain.layers()) {
            if recipe != Recipe::plain()
                && !recipe.name.to_lowercase().contains(&wanted.to_lowercase())
            {
                continue;
            }
            line.show(&format!("measuring: {}", recipe.name));
            match self.quantize(&self.model, &self.files.written, &recipe) {
                Ok(()) => rows.push(self.row(&recipe, &plain, &first)?),
                Err(error) => {
                    // Keep only the engine's own message, without the command.
                    let text = format!("{error:#}");
                    left_out.push((
                        recipe.name,
                        text.rsplit("error: ").next().unwrap_or_default().to_owned(),
                    ));
                }
            }
        }
        line.clear();
        Ok(Report {
            model: self.model.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            machine: machine(),
            questions: first.asked.all,
            stories: first.negative_log_likelihoods.len(),
            tokens: first.tokens,
            rows,
            left_out,
        })
    }

    /// Measures the model in the file `written`, whose types are those of `recipe`.
    fn row(&self, recipe: &Recipe, plain: &Table, first: &Score) -> Result<Row> {
        let Files { plain: original, written, back } = &self.files;
        let table = Table::of(&self.engine, written)?;
        self.quantize(written, back, &Recipe::plain())?;
        let score = self.score(written)?;
        Ok(Row {
            name: recipe.name.clone(),
            arguments: recipe.arguments(),
            types: table.types(),
            file_bytes: fs::metadata(written)?.len(),
            bits_per_weight: table.bits_per_weight(),
            relative_error: relative_error(plain, original, back)?,
            perplexity: score.perplexity,
            change: score.above(first),
            right: score.right(),
        })
    }

    fn quantize(&self, from: &Path, to: &Path, recipe: &Recipe) -> Result<()> {
        let (from, to, arguments) =
            (from.to_string_lossy(), to.to_string_lossy(), recipe.arguments());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.engine
            .run(&[&["quantize", "--force", &from, &to][..], &arguments].concat())
            .map(|_| ())
    }

    fn score(&self, file: &Path) -> Result<Score> {
        let (file, limit) = (file.to_string_lossy(), self.limit.map(|n| format!("--limit={n}")));
        // Use one thread, because more would gain little with such a small model.
        let mut arguments = vec!["score", "--json", "-j1", "--model", &file];
        arguments.extend(limit.as_deref());
        self.engine.json(&arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(negative_log_likelihoods: &[f64]) -> Score {
        let json = serde_json::json!({ "exact": { "all": 0.97, "name": 1.0 }, "asked": { "all": 400 }, "perplexity": 2.0, "stories": 3,
            "tokens": 10, "negative_log_likelihoods": negative_log_likelihoods });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn standard_error_is_the_spread_between_stories() {
        let first = score(&[3.0, 1.0, 5.0]);
        let same = score(&[3.5, 1.5, 5.5]).above(&first);
        assert!(
            (same.part - 0.15f64.exp_m1()).abs() < 1e-12 && same.standard_error == Some(0.0),
            "{same:?}"
        );
        // The differences are 0, 1 and 2. Their variance is 1, and that of their sum is 3.
        let mixed = score(&[3.0, 2.0, 7.0]).above(&first);
        assert!((mixed.part - 0.3f64.exp_m1()).abs() < 1e-12, "{mixed:?}");
        assert!((mixed.standard_error.unwrap() - 3f64.sqrt() / 10.0).abs() < 1e-12, "{mixed:?}");
        assert!(score(&[1.0]).above(&score(&[1.0])).standard_error.is_none());
        assert_eq!(first.right(), 388);
    }
}
