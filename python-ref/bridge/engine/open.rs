//! Opens a solution's engine as the command line does. This file is the source of two crates, one
//! for each solution. In each crate, `tiny_llm` is that crate's solution.

#[path = "../../../app/main.rs"]
#[allow(dead_code, reason = "only the engine is wanted of the command line")]
mod command_line;

use anyhow::Result;
use tiny_llm_cli::{Opened, Settings};

/// Opens an engine, and returns it with the server's settings. `arguments` are options of `serve`.
///
/// # Errors
/// If an option is wrong, or the model cannot be opened.
pub fn open(arguments: &[String]) -> Result<(Opened, Settings)> {
    tiny_llm_cli::open_for_server(&command_line::SOLUTION, arguments)
}
