//! `perplexity`: measures how well a model predicts text, token by token.

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
    after_help = "Perplexity is exp(mean negative log-likelihood per token). The first token of a\n\
              text is not counted. Perfect predictions give 1. Random guesses give the size of\n\
              the vocabulary.\n\n\
              Each story is one text, and includes its end token. A text file is cut into stretches of\n\
              --stretch tokens, and the model reads each stretch without the earlier ones.\n\n\
              Only models with the same tokenizer can be compared."
)]
pub(super) struct Args {
    #[command(flatten)]
    model: ModelOption,
    /// File of stories: one {"text": …} per line [default: models/eval/stories.jsonl]
    #[arg(long, value_name = "FILE")]
    stories: Option<PathBuf>,
    /// Text file to use instead of stories
    #[arg(long, value_name = "FILE", conflicts_with = "stories")]
    text: Option<PathBuf>,
    /// Tokens per stretch of a text file [default: 512, or the context length if shorter]
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true, requires = "text")]
    stretch: Option<usize>,
    /// Maximum number of stories or stretches [default: all]
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// Print the results as a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(solution: &Solution, args: &Args) -> Result<ExitCode> {
    let limit = args.limit.unwrap_or(usize::MAX);
    let (likelihood, [one, many]) = if let Some(file) = &args.text {
        let text = std::fs::read_to_string(file)
            .map_err(|e| anyhow!("{}: cannot be read: {e}", file.display()))?;
        let mut session = Session::open(solution, &args.model)?;
        let stretch = args.stretch.unwrap_or_else(|| session.model.config().max_positions.min(512));
        (Likelihood::of_text(&mut session, &text, stretch, limit)?, ["stretch", "stretches"])
    } else {
        let stories = stories(
            &args.stories.clone().unwrap_or_else(|| embedded("eval/stories.jsonl")),
            limit,
        )?;
        let mut session = Session::open(solution, &args.model)?;
        (Likelihood::of_stories(&mut session, &stories)?, ["story", "stories"])
    };
    let (texts, tokens, perplexity) =
        (likelihood.of_texts.len(), likelihood.tokens, likelihood.perplexity());
    Output::new().print(&if args.json {
        json!({ "perplexity": perplexity, "tokens": tokens, many: texts }).to_string()
    } else {
        let unit = if texts == 1 { one } else { many };
        format!("perplexity {perplexity:.4} over {texts} {unit}, {tokens} tokens")
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the first stories of a file, at most `limit` of them.
pub(super) fn stories(file: &Path, limit: usize) -> Result<Vec<String>> {
    let mut stories = read_lines(file, |line| line.text("text"))?;
    stories.truncate(limit);
    Ok(stories)
}

/// The likelihood of texts under a model.
#[derive(Default)]
pub(super) struct Likelihood {
    /// For each text, the sum of the negative log probabilities of its tokens, except the first.
    pub(super) of_texts: Vec<f64>,
    /// Number of predicted tokens.
    pub(super) tokens: usize,
}

impl Likelihood {
    /// Scores each story separately. Appends the end-of-text token to each if the vocabulary has
    /// that token.
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

    /// Scores a text in stretches of `stretch` tokens, at most `limit` of them. If the model
    /// requires a start token, each stretch begins with it.
    fn of_text(session: &mut Session, text: &str, stretch: usize, limit: usize) -> Result<Self> {
        let mut all = Self::default();
        let beginning = session.tokenizer.encode_prompt("")?;
        let size = stretch.saturating_sub(beginning.len());
        let least = beginning.len().max(1) + 1;
        ensure!(
            stretch >= least,
            "--stretch: found {stretch}, expected at least {least} tokens: a shorter stretch \
             predicts no token"
        );
        for part in session.tokenizer.encode(text)?.chunks(size).take(limit) {
            all.add(session.model.as_mut(), &[&beginning[..], part].concat())?;
        }
        all.checked("text")
    }

    /// Scores each of `tokens` except the first, given the tokens before it.
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
        ensure!(self.tokens > 0, "found no token to predict in the {what}, expected at least one");
        Ok(self)
    }

    /// Returns the perplexity. The best possible value is 1.
    pub(super) fn perplexity(&self) -> f64 {
        (self.of_texts.iter().sum::<f64>() / self.tokens as f64).exp()
    }
}
