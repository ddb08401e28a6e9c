//! `graph`: draws a model's forward pass.

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
    /// Number of tokens in the forward pass (1: decoding, more: a prompt)
    #[arg(long, value_name = "T", default_value = "1", value_parser = at_least_one)]
    rows: usize,
    /// Write the graph as Graphviz source to this file (-: standard output)
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Compare memory use: a buffer for each node, or one planned arena
    #[arg(long)]
    memory: bool,
    /// List the operations that run on each backend, and the copies between backends
    #[arg(long, conflicts_with = "memory")]
    splits: bool,
    /// Draw the graph as SVG to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// A drawn graph, and its operations.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// The graph as Graphviz source.
    pub dot: String,
    /// The graph as an SVG image.
    pub svg: String,
    /// The number of nodes per operation, most frequent first.
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
