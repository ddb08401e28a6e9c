//! `fetch`: runs the crate `tiny-llm-fetch`, a separate program that parses the options. It is
//! built on first use.

use std::{ffi::OsString, process::ExitCode};

use anyhow::Result;

use super::program::become_program;

/// All arguments after `fetch`.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(super) struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OWNER/NAME[:FILE]")]
    words: Vec<OsString>,
}

pub(super) fn run(args: Args) -> Result<ExitCode> {
    let build = ["--package", "tiny-llm-fetch", "--bin", "tiny-llm-fetch"];
    become_program(&build, args.words.into_iter())
}
