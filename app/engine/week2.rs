//! Week 2's engine: weights read in place, and a cache that persists between requests.

use std::{
    cell::RefCell,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use anyhow::Result;
use ndarray::IxDyn;
use tiny_llm::{
    week1,
    week2::{
        bandwidth,
        cache::CacheType,
        generate::Session,
        gguf::{
            Gguf,
            writer::{head, lay_out},
        },
        kernels::{Rung, repack},
        load,
        model::Model,
        parallel::Team,
        plan::Plan,
        quantize::Source,
        recipe::Dimensions,
        roofline::{self, Machine},
        target::{Target, tensor_type_for},
        write_file::write_file,
    },
    week3::speculate::NotFinite,
    week4::engine::GraphSession,
};
use tiny_llm_cli::{
    self as cli, About, Batch, BatchOptions, Form, LoadOptions, OnToken, QuantizeRequest, Roofline,
    TokenBytes, WriteRequest, WriteTensor,
};
use tiny_llm_formats::{
    FinishReason, Tensor,
    config::ModelConfig,
    gguf::{DEFAULT_ALIGNMENT, Metadata, Progress, TensorInfo, TensorType, Value},
    request::Request,
};

use super::{
    choose::{Chooser, sample},
    drafts::Drafts,
    finite::{self, explained},
    forms::{FormedAnswer, Forms},
    graph,
    model::{AnyModel, Loaded},
    plan::{cache_type, described, option, physical_cores, plan},
    prompt_file::PromptFile,
    week3,
    written::{self, Written},
};

/// Default maximum context. Memory for the keys and values of a whole context is reserved.
const DEFAULT_CONTEXT: usize = 4096;
/// Rows of a prompt per forward pass.
const CHUNK: usize = 256;

/// A model with its cache.
pub(crate) struct Week2 {
    /// Metadata of the GGUF file. `None` for a folder, or after it was moved out.
    metadata: Option<Metadata>,
    pub(super) session: Session,
    /// The same model as a graph, if the options select one.
    pub(super) graph: Option<GraphSession>,
    path: PathBuf,
    /// Types of the model's matrices, without repetition.
    types: Vec<TensorType>,
    cache_type: CacheType,
    keep_cache: bool,
    /// Text for the engine's description: the memory and time that repacking the weights took.
    repacked: Option<String>,
    drafts: Option<Drafts>,
    prompt_file: Option<PromptFile>,
    forms: Forms,
}

impl Week2 {
    pub(crate) fn load(path: &Path, options: &LoadOptions) -> Result<Self> {
        let context = options.context.unwrap_or(DEFAULT_CONTEXT);
        let (model, metadata) = if path.is_file() {
            let gguf = Gguf::open(path)?;
            (load::load_gguf(&gguf, context)?, Some(gguf.metadata))
        } else {
            (load::load_folder(path, context)?, None)
        };
        let context = model.config.max_positions;
        let mut types: Vec<TensorType> =
            model.matrices().map(|matrix| matrix.tensor_type).collect();
        types.sort_unstable();
        types.dedup();
        let mut plan = plan(options, &types)?;
        if options.draft.is_some() {
            // Drafts share a pass with the row before them, so the result of a row must not depend
            // on the others.
            plan.kernels = plan.kernels.alike();
        }
        let repacked = if options.repack {
            plan.kernels = plan.kernels.alike();
            Some(repack(&model, &plan)?)
        } else {
            bring_in(&model, &plan);
            None
        };
        let cache_type = cache_type(options)?;
        let session = Session::new(Arc::new(model), Arc::new(plan), context, cache_type);
        let graph = graph::session(options, &session, cache_type)?;
        let drafts = options.draft.as_ref().map(|draft| Drafts::new(draft, &session, cache_type));
        let prompt_file = options.cache_file.as_ref().map(|path| {
            let Plan { kernels, attention, .. } = &*session.plan;
            let how = format!("{}, {attention}", written::described(kernels, &types));
            PromptFile::new(path, &session, cache_type, &how)
        });
        Ok(Self {
            prompt_file: prompt_file.transpose()?,
            drafts: drafts.transpose()?,
            metadata,
            session,
            graph,
            path: path.to_owned(),
            types,
            cache_type,
            keep_cache: !options.no_cache,
            repacked,
            forms: Forms::default(),
        })
    }

    fn described(&self) -> String {
        let cache = if self.keep_cache {
            format!("{} cache", self.cache_type)
        } else {
            "no cache".to_owned()
        };
        let plan = described(&self.session.plan, &self.types);
        let repacked = self.repacked.as_deref().unwrap_or_default();
        let drafts = self.drafts.as_ref().map(Drafts::described).unwrap_or_default();
        let graph = self.graph.as_ref().map(graph::described).unwrap_or_default();
        format!("{plan}, {cache}{repacked}{drafts}{graph}")
    }
}

impl cli::Model for Week2 {
    fn config(&self) -> &ModelConfig {
        &self.session.model.config
    }

    fn about(&self) -> About {
        let kernels = &self.session.plan.kernels;
        About {
            described: self.described(),
            weight_bytes: self.session.model.weight_bytes(),
            threads: self.session.plan.team.threads(),
            matrix_units: self.types.iter().any(|&one| kernels.rung(one) == Rung::Amx),
        }
    }

    fn take_metadata(&mut self) -> Option<Metadata> {
        self.metadata.take()
    }

    fn savings(&self) -> Vec<(&'static str, String)> {
        let drafts = self.drafts.iter().map(|drafts| ("drafts", drafts.savings()));
        let file = self.prompt_file.iter().map(|file| ("cache", file.savings()));
        file.chain(drafts).collect()
    }

    fn use_vocabulary(&mut self, texts: Vec<Vec<u8>>) {
        self.forms.use_vocabulary(texts);
    }

    fn clear_cache(&mut self) {
        self.session.clear();
    }

    fn logits(&mut self, tokens: &[u32]) -> Result<Tensor> {
        self.session.clear();
        let width = self.config().vocab_size;
        let mut logits = Vec::with_capacity(tokens.len() * width);
        for (i, token) in tokens.iter().enumerate() {
            let next = match &mut self.graph {
                Some(graph) => graph.logits_after(&tokens[..=i], 1)?,
                None => self.session.feed(&[*token], 1).expect("tokens were checked"),
            };
            logits.extend_from_slice(next);
        }
        finite::check(&logits, &self.path)?;
        Ok(Tensor::from_shape_vec(IxDyn(&[tokens.len(), width]), logits)
            .expect("one row for each token"))
    }

    /// Continues the request's prompt. Reuses the keys and values of the prefix that the prompt
    /// shares with the previous text or with the prompt file.
    fn generate(
        &mut self,
        request: &Request,
        form: Option<&Form>,
        on_token: &mut OnToken<'_>,
    ) -> Result<FinishReason> {
        if let Some(file) = &mut self.prompt_file {
            file.restore(&mut self.session, &request.prompt);
        }
        let limits = super::limits(request, self.config().max_positions);
        let form = form.map(|form| self.forms.constraint(form)).transpose()?;
        let form = form.map(|form| FormedAnswer::new(form, request, &limits)).transpose()?;
        let chooser = RefCell::new(Chooser::new(sample(request), form));
        let choose = |logits: &[f32], seen: &[u32]| chooser.borrow_mut().choose(logits, seen);
        let mut accept = |token| chooser.borrow_mut().accept(token, on_token);
        let (prompt, session) = (&request.prompt, &mut self.session);
        let finish = if let Some(drafts) = &mut self.drafts {
            let ended = drafts.answer(session, request, CHUNK, &limits, &mut accept);
            ended.map_err(
                |error| {
                    if error.is::<NotFinite>() { explained(&self.path) } else { error }
                },
            )?
        } else if let Some(graph) = &mut self.graph {
            let mut failed = None;
            let next_logits = |tokens: &[u32]| match graph.logits_after(tokens, CHUNK) {
                Ok(logits) => logits.to_vec(),
                Err(error) => {
                    failed = Some(error);
                    // Ends the answer.
                    vec![f32::NAN]
                }
            };
            let finish = week1::generate::generate(next_logits, prompt, &limits, choose, accept);
            match failed {
                Some(error) => return Err(error),
                None => finish?,
            }
        } else if self.keep_cache {
            session.generate(prompt, CHUNK, &limits, choose, accept)?
        } else {
            let next_logits = |tokens: &[u32]| {
                session.clear();
                session.feed(tokens, CHUNK).expect("tokens were checked").to_vec()
            };
            week1::generate::generate(next_logits, prompt, &limits, choose, accept)?
        };
        let finish = chooser.into_inner().end(finish, &self.path)?;
        if let Some(file) = &mut self.prompt_file {
            file.save(&self.session, &request.prompt);
        }
        Ok(finish)
    }

    fn into_batch(
        self: Box<Self>,
        options: BatchOptions,
        token_bytes: TokenBytes,
    ) -> Result<Box<dyn Batch>> {
        let loaded = {
            // Drops the other fields, because week 3's engine must be the plan's only owner.
            let Self { session, cache_type, .. } = *self;
            let model = AnyModel::Dense(session.model);
            Loaded { model, plan: session.plan, cache_type }
        };
        week3::open(loaded, options, token_bytes)
    }
}

/// Writes a model as a GGUF file with its weights in other types.
pub(crate) fn quantize(
    request: &QuantizeRequest<'_>,
    progress: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
) -> Result<Vec<TensorInfo>> {
    let target: Target = option("--type", request.target)?;
    let source = match &request.metadata {
        Some(metadata) => Source::folder(request.input, metadata.clone())?,
        None => Source::gguf(request.input)?,
    };
    let team = Team::new(request.threads.unwrap_or_else(|| {
        let open = if cfg!(feature = "reference") { None } else { Written::probe().threads };
        if let Some(task) = &open {
            eprintln!("not written yet: {task}; using one thread instead");
        }
        if open.is_some() { 1 } else { physical_cores() }
    }));
    source.write(request.output, target, request.override_for, &team, progress)
}

/// Writes a GGUF file. Calls `write` to generate each tensor, in file order.
pub(crate) fn write_gguf(
    request: &WriteRequest<'_>,
    write: &mut WriteTensor<'_>,
) -> Result<Vec<TensorInfo>> {
    let target: Target = option("--type", request.target)?;
    let c = request.config;
    let dimensions = Dimensions {
        n_layers: c.n_layers,
        group: c.n_heads / c.n_kv_heads,
        tied: c.tie_word_embeddings,
    };
    let typed = |(name, shape): &(String, Vec<usize>)| {
        (name.clone(), shape.clone(), tensor_type_for(target, name, shape, &dimensions))
    };
    let table = lay_out(&request.tensors.iter().map(typed).collect::<Vec<_>>(), DEFAULT_ALIGNMENT)?;
    let mut metadata = request.metadata.clone();
    metadata.insert("general.file_type", Value::U32(target.file_type()));
    metadata.insert("general.quantization_version", Value::U32(2));
    let head = head(&metadata, &table, DEFAULT_ALIGNMENT);
    write_file(request.output, &head, &table, DEFAULT_ALIGNMENT, |i, out| write(&table[i], out))?;
    Ok(table)
}

/// Asks the system to load all pages of the weights into memory, because the first pass reads all
/// of them. Uses all threads of `plan`.
fn bring_in(model: &Model, plan: &Plan) {
    let matrices: Vec<_> = model.matrices().collect();
    plan.team.parallel_rows(&mut vec![(); matrices.len()], 1, 1, |i, _| {
        matrices[i].shared_bytes().bring_in();
    });
}

/// Copies all weights into memory, in the layout that the kernels read fastest. Returns how much
/// memory and time that took, for the description of the engine.
fn repack(model: &Model, plan: &Plan) -> Result<String> {
    let begun = Instant::now();
    let matrices: Vec<_> = model.matrices().collect();
    let bytes = repack::repack(&plan.team, &matrices, |one| plan.kernels.rung(one))?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok(format!(", weights repacked ({:.0} MB in {seconds:.1} s)", bytes as f64 / 1e6))
}

/// Returns the limit that memory bandwidth sets on decoding one token at a time.
pub(crate) fn roofline(tensors: &[TensorInfo], threads: Option<usize>) -> Roofline {
    let work = roofline::work(tensors);
    let threads = threads.unwrap_or_else(physical_cores);
    let machine = Machine {
        bandwidth: bandwidth::measure(threads, bandwidth::ENOUGH, 5),
        operations: f64::INFINITY,
    };
    Roofline {
        bytes: work.bytes,
        threads,
        bandwidth: machine.bandwidth,
        tokens_per_second: machine.tokens_per_second(work, 1),
    }
}
