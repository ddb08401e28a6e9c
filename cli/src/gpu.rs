//! `gpu`: describes the GPU and measures the kernels on it.

use std::process::ExitCode;

use anyhow::Result;

use super::{Solution, output::Output};

pub(super) fn run(solution: &Solution) -> Result<ExitCode> {
    Output::new().print(&(solution.gpu)()?.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}
