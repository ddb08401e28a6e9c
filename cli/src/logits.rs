//! `logits`: writes the logits of every position to a file for other programs.

use std::{io::Write, path::PathBuf, process::ExitCode};

use anyhow::{Result, ensure};

use super::{
    Solution,
    files::{Entry, cannot_be_written, write_safetensors},
    options::ModelOption,
    session::check,
};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    model: ModelOption,
    /// Token ids, separated by commas
    #[arg(long, value_name = "IDS", value_delimiter = ',', required = true, value_parser = token, allow_negative_numbers = true)]
    tokens: Vec<u32>,
    /// File to write: one f32 tensor `logits` of shape [L, V]
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(super) fn token(text: &str) -> Result<u32, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("expected token ids from 0 to {} separated by commas", u32::MAX))
}

pub(super) fn run(solution: &Solution, args: &Args) -> Result<ExitCode> {
    let mut model = args.model.load(solution)?;
    check(model.as_ref(), &args.tokens)?;
    let logits = model.logits(&args.tokens)?;
    let expected = [args.tokens.len(), model.config().vocab_size];
    ensure!(
        logits.shape() == expected,
        "found logits of shape {:?}, expected {expected:?}",
        logits.shape()
    );
    let entries = [Entry { name: "logits".to_owned(), shape: expected.to_vec() }];
    write_safetensors(&args.out, "F32", 4, &entries, |_, out| {
        logits
            .iter()
            .try_for_each(|x| out.write_all(&x.to_le_bytes()))
            .map_err(|e| cannot_be_written(&args.out, &e))
    })?;
    Ok(ExitCode::SUCCESS)
}
