//! `gpu`: the graphics processor and the kernels on it.

use std::process::ExitCode;

use anyhow::Result;

use super::{Engine, output::Output};

pub(super) fn run<E: Engine>() -> Result<ExitCode> {
    Output::new().print(&E::gpu()?.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}
