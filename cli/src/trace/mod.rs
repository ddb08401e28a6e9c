//! `trace`: records a model's activations, or compares them with recorded ones. It runs twice for
//! `cargo course trace`: first with the reference, to record every activation, then with the
//! learner's code, to compare each activation as it is computed.

mod compare;
mod difference;
mod list;
mod report;

use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::{Context, Result};

use self::{compare::Comparison, list::Recorded, report::Report};
use super::{ActivationsRequest, Solution, logits::token, options::ModelOption, panics};
use tiny_llm_formats::text::Tokenizer;

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    model: ModelOption,
    /// Text to run the model on
    #[arg(
        short,
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        required_unless_present = "tokens"
    )]
    prompt: Option<String>,
    /// Token ids to run the model on, separated by commas
    #[arg(long, value_name = "IDS", value_delimiter = ',', conflicts_with = "prompt", value_parser = token, allow_negative_numbers = true)]
    tokens: Vec<u32>,
    /// File to write every activation to, in order
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "against",
        conflicts_with = "against"
    )]
    out: Option<PathBuf>,
    /// File of activations to compare with
    #[arg(long, value_name = "FILE", requires = "report")]
    against: Option<PathBuf>,
    /// File for the report, written during the comparison
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    report: Option<PathBuf>,
}

pub(super) fn run(solution: &Solution, args: &Args) -> Result<ExitCode> {
    let (tokens, texts) = args.tokens()?;
    if let (Some(against), Some(report)) = (&args.against, &args.report) {
        let expected = list::read(against)?;
        compare(
            solution,
            args,
            &tokens,
            Comparison::new(expected, texts),
            &mut Report::create(report)?,
        )?;
    } else if let Some(out) = &args.out {
        let (model, options) = (args.model.path(), args.model.options());
        let request = ActivationsRequest { model: &model, options: &options, tokens: &tokens };
        let mut recorded = Vec::new();
        let mut record = |name: &str, value: &_| recorded.push(Recorded::new(name, value));
        (solution.activations)(&request, &mut || Ok(()), &mut record)?;
        list::write(out, &recorded)?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    /// Returns the token ids and, if they come from a prompt, their texts.
    fn tokens(&self) -> Result<(Vec<u32>, Vec<String>)> {
        let Some(prompt) = &self.prompt else { return Ok((self.tokens.clone(), Vec::new())) };
        let tokenizer = Tokenizer::from_folder(&self.model.path())
            .context("--prompt needs the model's tokenizer; if there is none, use --tokens")?;
        let tokens = tokenizer.encode_prompt(prompt)?;
        let texts = tokens
            .iter()
            .map(|&id| String::from_utf8_lossy(&tokenizer.token_bytes(id)).into_owned())
            .collect();
        Ok((tokens, texts))
    }
}

/// Runs the learner's model and reports the comparison of each activation. If the model panics, the
/// report still has all comparisons up to that point.
fn compare(
    solution: &Solution,
    args: &Args,
    tokens: &[u32],
    mut comparison: Comparison,
    report: &mut Report,
) -> Result<()> {
    let panic_text = panics::remember();
    let (mut written, mut loaded) = (Ok(()), false);
    let ended = catch_unwind(AssertUnwindSafe(|| -> Result<()> {
        let (model, options) = (args.model.path(), args.model.options());
        let request = ActivationsRequest { model: &model, options: &options, tokens };
        let report = RefCell::new(&mut *report);
        let mut ready = || {
            loaded = true;
            report.borrow_mut().loaded()
        };
        (solution.activations)(&request, &mut ready, &mut |name, value| {
            if let Some(event) = comparison.next(name, value)
                && written.is_ok()
            {
                written = report.borrow_mut().write(&event, solution.tasks_of);
            }
        })
    }));
    written?;
    match ended {
        Ok(Ok(())) => report.write(&comparison.end(), solution.tasks_of),
        Ok(Err(error)) => report.error(&format!("{error:#}")),
        Err(_) => {
            report.panic(&panic_text(), comparison.upcoming().filter(|_| loaded), solution.tasks_of)
        }
    }
}
