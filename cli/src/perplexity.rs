//! `perplexity`: how well a model predicts text, token by token.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Result, anyhow, ensure};
use serde_json::json;

use super::{
    Model, Solution,
    lines::read_lines,
    options::{ModelOption, at_least_one, embedded},
    output::Output,
    session::{Session, check},
};

const END_OF_TEXT: &str = "<|endoftext|>";

#[derive(clap::Args)]
#[command(
    after_help = "Perplexity is exp of the mean negative log-likelihood of every token but a \
                  text's first: 1 for a model that is always sure and right, the vocabulary's size \
                  for one that guesses. A story is a text of its own, and its end is predicted \
                  too. A text file is cut into stretches of --stretch tokens, each read without \
                  the ones before. Compare models of one tokenizer only."
)]
pub(super) struct Args {
    #[command(flatten)]
    model: ModelOption,
    /// One JSON object a line with text [default: models/eval/stories.jsonl]
    #[arg(long, value_name = "FILE")]
    stories: Option<PathBuf>,
    /// A text file, in place of stories
    #[arg(long, value_name = "FILE", conflicts_with = "stories")]
    text: Option<PathBuf>,
    /// Tokens of a text file that are read together
    /// [default: 512, or the context if that is shorter]
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true, requires = "text")]
    stretch: Option<usize>,
    /// At most this many stories, or stretches
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(solution: &Solution, args: &Args) -> Result<ExitCode> {
    let limit = args.limit.unwrap_or(usize::MAX);
    let (likelihood, unit) = if let Some(file) = &args.text {
        let text = std::fs::read_to_string(file)
            .map_err(|e| anyhow!("{}: cannot be read: {e}", file.display()))?;
        let mut session = Session::open(solution, &args.model)?;
        let stretch = args.stretch.unwrap_or_else(|| session.model.config().max_positions.min(512));
        (Likelihood::of_text(&mut session, &text, stretch, limit)?, "stretches")
    } else {
        let stories = stories(
            &args.stories.clone().unwrap_or_else(|| embedded("eval/stories.jsonl")),
            limit,
        )?;
        let mut session = Session::open(solution, &args.model)?;
        (Likelihood::of_stories(&mut session, &stories)?, "stories")
    };
    let (texts, tokens, perplexity) =
        (likelihood.of_texts.len(), likelihood.tokens, likelihood.perplexity());
    Output::new().print(&if args.json {
        json!({ "perplexity": perplexity, "tokens": tokens, unit: texts }).to_string()
    } else {
        format!("perplexity {perplexity:.4} over {texts} {unit}, {tokens} tokens")
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The stories of a file, at most `limit` of them.
pub(super) fn stories(file: &Path, limit: usize) -> Result<Vec<String>> {
    let mut stories = read_lines(file, |line| line.text("text"))?;
    stories.truncate(limit);
    Ok(stories)
}

/// How likely a model finds texts.
#[derive(Default)]
pub(super) struct Likelihood {
    /// For each text, the sum of the negative logarithms of the probabilities of its tokens but the
    /// first.
    pub(super) of_texts: Vec<f64>,
    /// How many tokens were predicted.
    pub(super) tokens: usize,
}

impl Likelihood {
    /// Each story by itself, with the token that ends a text if the vocabulary has it.
    pub(super) fn of_stories(session: &mut Session, stories: &[String]) -> Result<Self> {
        let mut all = Self::default();
        let end = session
            .tokenizer
            .encode(END_OF_TEXT)
            .ok()
            .filter(|end| end.len() == 1)
            .unwrap_or_default();
        for story in stories {
            let tokens = [session.tokenizer.encode_prompt(story)?, end.clone()].concat();
            all.add(session.model.as_mut(), &tokens)?;
        }
        all.checked("stories")
    }

    /// A long text, so many tokens at a time. What begins a text begins each of these stretches.
    fn of_text(session: &mut Session, text: &str, stretch: usize, limit: usize) -> Result<Self> {
        let mut all = Self::default();
        let beginning = session.tokenizer.encode_prompt("")?;
        let size = stretch.saturating_sub(beginning.len());
        ensure!(
            size > 0 && stretch > 1,
            "--stretch: found {stretch}, expected room for a token and the one that it predicts"
        );
        for part in session.tokenizer.encode(text)?.chunks(size).take(limit) {
            all.add(session.model.as_mut(), &[&beginning[..], part].concat())?;
        }
        all.checked("text")
    }

    /// Every token but the first, given those before it.
    fn add(&mut self, model: &mut dyn Model, tokens: &[u32]) -> Result<()> {
        check(model, tokens)?;
        let logits = model.logits(tokens)?;
        let mut negative_log = 0.0;
        for (row, &next) in logits.rows().into_iter().zip(&tokens[1..]) {
            let max = row.fold(f32::NEG_INFINITY, |m, &x| m.max(x));
            let sum: f64 = row.iter().map(|&x| f64::from(x - max).exp()).sum();
            negative_log += sum.ln() - f64::from(row[next as usize] - max);
            self.tokens += 1;
        }
        self.of_texts.push(negative_log);
        Ok(())
    }

    fn checked(self, what: &str) -> Result<Self> {
        ensure!(self.tokens > 0, "there is no token to predict in the {what}");
        Ok(self)
    }

    /// 1 is the best there is.
    pub(super) fn perplexity(&self) -> f64 {
        (self.of_texts.iter().sum::<f64>() / self.tokens as f64).exp()
    }
}
