//! `tiny-llm`, the command line. It hands the functions of this crate — yours, or with the feature
//! `reference` ours — to `tiny_llm_cli`, which knows nothing of either.

mod engine;

use std::{ops::ControlFlow, path::Path, process::ExitCode};

use anyhow::{Result, bail, ensure};
#[cfg(feature = "gpu")]
use engine::gpu;
use engine::{mixture, simulated, streamed, week1, week2, week3, week4};
use tiny_llm::{
    week1::{activations, chat::chatml, stream::TextStream},
    week2::{
        bandwidth,
        gguf::Gguf,
        kernels::{Rung, VARIABLE},
    },
};
use tiny_llm_cli::{
    Batch, BatchOptions, Divided, Drawn, Engine, ExpertsSeen, Form, LayoutRequest, LayoutSeen,
    LoadOptions, PackRequest, QuantizeRequest, Server, Simulated, SimulatedOptions, StreamRequest,
    Streamed, TokenBytes, WriteRequest, WriteTensor, WrongOption,
};
use tiny_llm_formats::{
    FinishReason, Tensor,
    chat::Message,
    config::ModelConfig,
    gguf::{Metadata, Progress, TensorInfo},
    request::Request,
};

/// Also that of `tiny-llm-serve`.
pub(crate) fn main() -> ExitCode {
    #[cfg(feature = "serve")]
    let server = Server::Here(tiny_llm_server::serve);
    #[cfg(not(feature = "serve"))]
    let server =
        Server::Built(if cfg!(feature = "reference") { "serve,reference" } else { "serve" });
    tiny_llm_cli::main::<Solution>(server)
}

/// The engine of one week.
pub(crate) enum Solution {
    Week1(Box<week1::Week1>),
    Week2(Box<week2::Week2>),
    Mixture(Box<mixture::Mixture>),
}

impl Engine for Solution {
    type TextStream = TextStream;

    fn load(path: &Path, options: &LoadOptions) -> Result<Self> {
        if mixture::is_mixture(path) {
            return Ok(Self::Mixture(Box::new(mixture::Mixture::load(path, options)?)));
        }
        let graph = matches!(options.engine.as_deref(), Some("graph" | "arena"));
        if graph && options.week == Some(1) {
            let problem = "--week 1: found with --engine, which stands on week 2's";
            return Err(WrongOption(problem.to_owned()).into());
        }
        let week = options.week.unwrap_or(if path.is_file() || graph { 2 } else { 1 });
        ensure!(
            week == 2 || !path.is_file(),
            "{}: a GGUF file needs week 2's engine",
            path.display()
        );
        if week == 1 && std::env::var_os(VARIABLE).is_some() {
            eprintln!(
                "{VARIABLE} is set, but week 1's engine has no kernels to choose from: give a GGUF \
                 file, or --week 2"
            );
        }
        Ok(if week == 1 {
            Self::Week1(Box::new(week1::Week1::load(path)?))
        } else {
            Self::Week2(Box::new(week2::Week2::load(path, options)?))
        })
    }

    fn take_metadata(&mut self) -> Option<Metadata> {
        match self {
            Self::Week1(_) => None,
            Self::Week2(engine) => engine.metadata.take(),
            Self::Mixture(engine) => engine.metadata.take(),
        }
    }

    fn inspect(file: &Path) -> Result<(Metadata, Vec<TensorInfo>)> {
        let gguf = Gguf::open(file)?;
        Ok((gguf.metadata, gguf.tensors))
    }

    fn roofline(tensors: &[TensorInfo], threads: Option<usize>) -> tiny_llm_cli::Roofline {
        week2::roofline(tensors, threads)
    }

    fn config(&self) -> &ModelConfig {
        match self {
            Self::Week1(engine) => &engine.model.config,
            Self::Week2(engine) => engine.config(),
            Self::Mixture(engine) => engine.config(),
        }
    }

    fn weight_bytes(&self) -> u64 {
        match self {
            Self::Week1(engine) => engine.weight_bytes(),
            Self::Week2(engine) => engine.weight_bytes(),
            Self::Mixture(engine) => engine.weight_bytes(),
        }
    }

    fn rungs() -> Vec<&'static str> {
        Rung::available().into_iter().map(Rung::name).collect()
    }

    fn described(&self) -> String {
        match self {
            Self::Week1(_) => "week 1: f32, nothing cached".to_owned(),
            Self::Week2(engine) => engine.described(),
            Self::Mixture(engine) => engine.described().to_owned(),
        }
    }

    fn measure_bandwidth(&self) -> f64 {
        match self {
            Self::Week1(_) => bandwidth::measure(1, bandwidth::ENOUGH, 5),
            Self::Week2(engine) => bandwidth::measure(engine.threads(), bandwidth::ENOUGH, 5),
            Self::Mixture(engine) => {
                bandwidth::measure(engine.plan().team.threads(), bandwidth::ENOUGH, 5)
            }
        }
    }

    fn measure_matrix_units(&self) -> Option<f64> {
        match self {
            Self::Week1(_) | Self::Mixture(_) => None,
            Self::Week2(engine) => engine.measure_matrix_units(),
        }
    }

    fn check(&self, tokens: &[u32]) -> Result<()> {
        match self {
            Self::Week1(engine) => engine.model.check(tokens),
            Self::Week2(engine) => engine.check(tokens),
            Self::Mixture(engine) => engine.check(tokens),
        }
    }

    fn forget(&mut self) {
        match self {
            Self::Week1(_) => {}
            Self::Week2(engine) => engine.forget(),
            Self::Mixture(engine) => engine.forget(),
        }
    }

    fn sooner(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Week1(_) | Self::Mixture(_) => Vec::new(),
            Self::Week2(engine) => engine.sooner(),
        }
    }

    fn threads(&self) -> usize {
        match self {
            Self::Week1(_) => 1,
            Self::Week2(engine) => engine.threads(),
            Self::Mixture(engine) => engine.plan().team.threads(),
        }
    }

    fn logits(&mut self, tokens: &[u32]) -> Result<Tensor> {
        match self {
            Self::Week1(engine) => engine.logits(tokens),
            Self::Week2(engine) => engine.logits(tokens),
            Self::Mixture(engine) => engine.logits(tokens),
        }
    }

    fn activations(&self, tokens: &[u32], each: &mut dyn FnMut(&str, &Tensor)) -> Result<()> {
        match self {
            Self::Week1(engine) => {
                activations::activations(&engine.model, &week1::batch_of_one(tokens), each);
            }
            Self::Week2(_) | Self::Mixture(_) => {
                bail!("activations are compared on week 1's engine; give a model folder")
            }
        }
        Ok(())
    }

    fn tasks_of(activation: &str) -> &'static [&'static str] {
        activations::tasks_of(activation)
    }

    fn use_vocabulary(&mut self, texts: Vec<Vec<u8>>) {
        if let Self::Week2(engine) = self {
            engine.use_vocabulary(texts);
        }
    }

    fn generate(
        &mut self,
        request: &Request,
        form: Option<&Form>,
        on_token: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) -> Result<FinishReason> {
        match self {
            Self::Week1(engine) => engine.answer(request, on_token),
            Self::Week2(engine) => engine.answer(request, form, on_token),
            Self::Mixture(engine) => engine.answer(request, form, on_token),
        }
    }

    fn into_batch(self, options: BatchOptions, token_bytes: TokenBytes) -> Result<Box<dyn Batch>> {
        let loaded = match self {
            Self::Week1(_) => bail!("week 1's engine computes one text at a time"),
            Self::Mixture(engine) => engine.into_loaded(),
            Self::Week2(engine) => engine.into_loaded(),
        };
        Ok(Box::new(week3::Week3::new(loaded, options, token_bytes)?))
    }

    fn simulated(options: SimulatedOptions) -> Result<Box<dyn Simulated>> {
        Ok(Box::new(simulated::SimulatedEngine::new(options)))
    }

    fn push(stream: &mut TextStream, bytes: &[u8]) -> String {
        stream.push(bytes)
    }

    fn finish(stream: &mut TextStream) -> String {
        stream.finish()
    }

    fn quantize(
        request: &QuantizeRequest<'_>,
        progress: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Vec<TensorInfo>> {
        week2::quantize(request, progress)
    }

    fn write_gguf(
        request: &WriteRequest<'_>,
        write: &mut WriteTensor<'_>,
    ) -> Result<Vec<TensorInfo>> {
        week2::write_gguf(request, write)
    }

    fn graph(&self, rows: usize) -> Result<Drawn> {
        match self {
            Self::Week1(_) => bail!("week 1's engine has no graph"),
            Self::Mixture(_) => bail!("a model with experts has no graph here"),
            Self::Week2(engine) => engine.drawn(rows),
        }
    }

    fn graph_memory(&self, rows: usize) -> Result<Vec<(&'static str, usize)>> {
        match self {
            Self::Week1(_) => bail!("week 1's engine has no graph"),
            Self::Mixture(_) => bail!("a model with experts has no graph here"),
            Self::Week2(engine) => engine.graph_memory(rows),
        }
    }

    fn graph_splits(&mut self, rows: usize) -> Result<Divided> {
        match self {
            Self::Week1(_) => bail!("week 1's engine has no graph"),
            Self::Week2(engine) => engine.divided(rows),
            Self::Mixture(_) => bail!("a model with experts has no graph here"),
        }
    }

    fn gpu() -> Result<Vec<String>> {
        #[cfg(feature = "gpu")]
        return gpu::seen();
        #[cfg(not(feature = "gpu"))]
        bail!("found a program built without graphics processors, expected `cargo llm-gpu gpu`");
    }

    fn experts(&mut self, tokens: &[u32]) -> Result<ExpertsSeen> {
        match self {
            Self::Mixture(engine) => engine.experts(tokens),
            _ => bail!("this model has no experts: expected a Qwen3-MoE or gpt-oss model"),
        }
    }

    fn layouts(request: &LayoutRequest) -> Result<Vec<LayoutSeen>> {
        week4::layouts(request)
    }

    fn stream(
        request: &StreamRequest<'_>,
        on_token: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) -> Result<Streamed> {
        streamed::stream(request, on_token)
    }

    fn stream_pack(request: &PackRequest<'_>) -> Result<u64> {
        streamed::pack(request)
    }

    fn chatml(messages: &[Message]) -> String {
        chatml(messages, true)
    }
}
