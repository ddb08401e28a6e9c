//! What the command line does with a solution's engine before it serves, for the bridge. This file
//! is a crate for each of the two solutions: both call the solution `tiny_llm`, and mean their own.

#[path = "../../../app/main.rs"]
#[allow(dead_code, reason = "only the engine is wanted of the command line")]
mod command_line;

use anyhow::Result;
use tiny_llm_cli::{Opened, Settings};

/// An engine and what a server of it keeps to, from the options of `serve`.
///
/// # Errors
/// If an option is wrong, or the model cannot be opened.
pub fn open(arguments: &[String]) -> Result<(Opened, Settings)> {
    tiny_llm_cli::open_for_server(&command_line::SOLUTION, arguments)
}
