//! `tiny-llm`, the command line. It passes functions to `tiny_llm_cli`, which does not depend on
//! any engine. These functions run the learner's engine or, with the feature `reference`, the
//! reference engine.

mod engine;

use std::{path::Path, process::ExitCode};

use anyhow::{Result, ensure};
#[cfg(feature = "gpu")]
use engine::gpu;
use engine::{
    mixture::{self, Mixture},
    simulated, streamed,
    week1::{self, Week1},
    week2::{self, Week2},
    week4,
};
use tiny_llm::{
    week1::{activations, chat::chatml, stream::TextStream},
    week2::{
        bandwidth,
        gguf::Gguf,
        kernels::{Rung, VARIABLE},
    },
};
use tiny_llm_cli::{LoadOptions, Model, Server, Solution, Text, WrongOption};
use tiny_llm_formats::gguf::{Metadata, TensorInfo};
use tiny_llm_kernels::peak;

/// The functions that `tiny_llm_cli` calls.
pub(crate) const SOLUTION: Solution = Solution {
    load,
    inspect,
    roofline: week2::roofline,
    rungs: || Rung::available().into_iter().map(Rung::name).collect(),
    bandwidth: |threads| bandwidth::measure(threads, bandwidth::ENOUGH, 5),
    matrix_units: peak::of_matrix_units,
    activations: week1::activations,
    tasks_of: activations::tasks_of,
    text: || Box::new(Stream(TextStream::default())),
    chatml: |messages| chatml(messages, true),
    simulated: simulated::open,
    quantize: week2::quantize,
    write_gguf: week2::write_gguf,
    graph: week4::drawn,
    graph_memory: week4::memory,
    graph_splits: week4::divided,
    experts: mixture::experts,
    gpu: seen_gpu,
    layouts: week4::layouts,
    stream: streamed::stream,
    stream_pack: streamed::pack,
};

/// Also the main function of `tiny-llm-serve`.
pub(crate) fn main() -> ExitCode {
    #[cfg(feature = "serve")]
    let server = Server::Here(tiny_llm_server::serve);
    #[cfg(not(feature = "serve"))]
    let server =
        Server::Built(if cfg!(feature = "reference") { "serve,reference" } else { "serve" });
    tiny_llm_cli::main(&SOLUTION, server)
}

/// Loads a model with the requested week's engine. If no week is requested, uses week 2's engine
/// for a GGUF file or if an option needs it, and week 1's engine otherwise. A model with experts
/// has its own engine.
fn load(path: &Path, options: &LoadOptions) -> Result<Box<dyn Model>> {
    if mixture::is_mixture(path) {
        return Ok(Box::new(Mixture::load(path, options)?));
    }
    let graph = matches!(options.engine.as_deref(), Some("graph" | "arena"));
    for (given, option) in [(graph, "--engine"), (options.repack, "--repack")] {
        if given && options.week == Some(1) {
            let problem =
                format!("--week 1: cannot be combined with {option}, which needs week 2's engine");
            return Err(WrongOption(problem).into());
        }
    }
    let needs_week_2 = path.is_file() || graph || options.repack;
    let week = options.week.unwrap_or(if needs_week_2 { 2 } else { 1 });
    ensure!(
        week == 2 || !path.is_file(),
        "{}: a GGUF file needs week 2's engine; omit --week, or use --week 2",
        path.display()
    );
    if week == 2 {
        return Ok(Box::new(Week2::load(path, options)?));
    }
    if std::env::var_os(VARIABLE).is_some() {
        eprintln!(
            "{VARIABLE} is set, but week 1's engine has no kernels to choose from: give a GGUF \
             file, or --week 2"
        );
    }
    Ok(Box::new(Week1::load(path)?))
}

fn inspect(file: &Path) -> Result<(Metadata, Vec<TensorInfo>)> {
    let gguf = Gguf::open(file)?;
    Ok((gguf.metadata, gguf.tensors))
}

fn seen_gpu() -> Result<Vec<String>> {
    #[cfg(feature = "gpu")]
    return gpu::seen();
    #[cfg(not(feature = "gpu"))]
    anyhow::bail!("this program was built without GPU support; use `cargo llm-gpu gpu`");
}

/// Decodes an answer with week 1's functions.
struct Stream(TextStream);

impl Text for Stream {
    fn push(&mut self, bytes: &[u8]) -> String {
        self.0.push(bytes)
    }

    fn finish(&mut self) -> String {
        self.0.finish()
    }
}
