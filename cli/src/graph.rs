//! `graph`: a model's forward pass as a picture.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;

use super::{
    GraphRequest, Solution,
    files::cannot_be_written,
    options::{ModelOption, at_least_one},
    output::{Output, note},
    splits,
};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    model: ModelOption,
    /// Rows of the pass: 1 is decoding, more is a prompt
    #[arg(long, value_name = "T", default_value = "1", value_parser = at_least_one)]
    rows: usize,
    /// Writes it as Graphviz reads it, to a file or to - for the standard output
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Says how many bytes its nodes need, each for itself and planned into one arena
    #[arg(long)]
    memory: bool,
    /// Shows which backend computes what, and what is copied between them
    #[arg(long, conflicts_with = "memory")]
    splits: bool,
    /// Writes it as a picture for any browser
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// A graph as it is drawn, and what it is made of.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// For Graphviz.
    pub dot: String,
    /// For a browser.
    pub svg: String,
    /// How many nodes there are of each operation, those first that are many.
    pub operations: Vec<(&'static str, usize)>,
}

pub(super) fn run(solution: &Solution, args: Args) -> Result<ExitCode> {
    let model = if args.splits { args.model.on_backends()? } else { args.model.on_week_2()? };
    let (path, options) = (model.path(), model.options());
    let request = GraphRequest { model: &path, options: &options, rows: args.rows };
    if args.splits {
        Output::new().print(&splits::shown(&(solution.graph_splits)(&request)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.memory {
        let lines = (solution.graph_memory)(&request)?;
        let lines = lines.iter().map(|(what, bytes)| format!("{bytes:>12}  {what}"));
        Output::new().print(&lines.collect::<Vec<_>>().join("\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let drawn = (solution.graph)(&request)?;
    for (path, text) in [(args.dot, &drawn.dot), (args.svg, &drawn.svg)] {
        let Some(path) = path else { continue };
        if path.as_os_str() == "-" {
            Output::new().print(text)?;
        } else {
            std::fs::write(&path, text).map_err(|e| cannot_be_written(&path, &e))?;
        }
    }
    let nodes: usize = drawn.operations.iter().map(|(_, n)| n).sum();
    let each: Vec<String> = drawn.operations.iter().map(|(op, n)| format!("{n} {op}")).collect();
    note(&format!("{nodes} nodes: {}", each.join(", ")));
    Ok(ExitCode::SUCCESS)
}
