//! Week 2's engine: weights read in place, a cache that is kept from one request to the next.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    ops::ControlFlow,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use anyhow::{Result, anyhow, ensure};
use ndarray::IxDyn;
use tiny_llm::{
    week1::{self, generate::argmax, sampling::Rng},
    week2::{
        bandwidth,
        cache::CacheType,
        generate::Session,
        gguf::{
            Gguf,
            writer::{head, lay_out, write_file},
        },
        kernels::{Rung, VARIABLE, vector},
        load,
        model::Model,
        parallel::Team,
        plan::{AttentionKind, Plan},
        quantize::Source,
        recipe::{Dimensions, Target, tensor_type_for},
        roofline::{self, Machine},
    },
    week3::speculate::NotFinite,
    week4::engine::GraphSession,
};
use tiny_llm_cli::{
    Divided, Drawn, Form, LoadOptions, QuantizeRequest, Roofline, WriteRequest, WriteTensor,
    WrongOption,
};
use tiny_llm_formats::{
    FinishReason, Tensor,
    config::ModelConfig,
    gguf::{DEFAULT_ALIGNMENT, Metadata, Progress, TensorInfo, TensorType, Value},
    request::{Request, check_tokens},
};
use tiny_llm_kernels::sampling::Sampler;

use super::{
    drafts::Drafts,
    finite::{Watch, explained},
    forms::{Formed, Forms},
    model::{AnyModel, Loaded},
    prompt_file::PromptFile,
    written::{self, Written},
};

/// Longer contexts must be asked for: room for their keys and values is set aside.
const DEFAULT_CONTEXT: usize = 4096;
/// Rows of a prompt that go through the model at once.
const CHUNK: usize = 256;

/// A model with its cache.
pub(crate) struct Week2 {
    /// What a GGUF file says beside its tensors.
    pub(crate) metadata: Option<Metadata>,
    session: Session,
    /// The same model as a graph, if that is to run.
    graph: Option<GraphSession>,
    path: PathBuf,
    /// Of the matrices.
    types: Vec<TensorType>,
    cache_type: CacheType,
    keep_cache: bool,
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
            // Drafts stand in one pass with the row before them: each has to be what it is alone.
            plan.kernels = plan.kernels.alike();
        }
        bring_in(&model, &plan);
        let cache_type = cache_type(options)?;
        let session = Session::new(Arc::new(model), Arc::new(plan), context, cache_type);
        let graph = super::week4::session(options, &session, cache_type)?;
        let drafts = options.draft.as_ref().map(|draft| Drafts::new(draft, &session, cache_type));
        let prompt_file = options.cache_file.as_ref().map(|path| {
            let Plan { kernels, attention, .. } = &*session.plan;
            let how = format!("{}, {attention}", written::described(kernels, &types));
            PromptFile::new(path, &session, cache_type, &how)
        });
        Ok(Self {
            prompt_file,
            drafts: drafts.transpose()?,
            metadata,
            session,
            graph,
            path: path.to_owned(),
            types,
            cache_type,
            keep_cache: !options.no_cache,
            forms: Forms::default(),
        })
    }

    /// What another engine takes over.
    pub(crate) fn into_loaded(self) -> Loaded {
        let model = AnyModel::Dense(self.session.model);
        Loaded { model, plan: self.session.plan, cache_type: self.cache_type, path: self.path }
    }

    /// The graph of a pass.
    pub(crate) fn drawn(&self, rows: usize) -> Result<Drawn> {
        super::week4::drawn(&self.session.model, rows)
    }

    /// What it needs of memory.
    pub(crate) fn graph_memory(&self, rows: usize) -> Result<Vec<(&'static str, usize)>> {
        super::week4::memory(&self.session.model, rows)
    }

    /// How its backends divide it among them.
    pub(crate) fn divided(&mut self, rows: usize) -> Result<Divided> {
        let graph = self.graph.as_mut().expect("week 4's graph was asked for");
        super::week4::divided(graph, rows)
    }

    pub(crate) fn config(&self) -> &ModelConfig {
        &self.session.model.config
    }

    pub(crate) fn weight_bytes(&self) -> u64 {
        self.session.model.weight_bytes()
    }

    pub(crate) fn threads(&self) -> usize {
        self.session.plan.team.threads()
    }

    /// Of as many threads as it has, if it multiplies with them.
    pub(crate) fn measure_matrix_units(&self) -> Option<f64> {
        let kernels = &self.session.plan.kernels;
        let used = self.types.iter().any(|&one| kernels.rung(one) == Rung::Amx);
        used.then(|| tiny_llm_kernels::peak::of_matrix_units(self.threads())).flatten()
    }

    pub(crate) fn described(&self) -> String {
        let cache = if self.keep_cache {
            format!("{} cache", self.cache_type)
        } else {
            "no cache".to_owned()
        };
        let plan = described(&self.session.plan, &self.types);
        let drafts = self.drafts.as_ref().map(Drafts::described).unwrap_or_default();
        let graph = self.graph.as_ref().map(super::week4::described).unwrap_or_default();
        format!("{plan}, {cache}{drafts}{graph}")
    }

    /// What the last request had of a file, and of drafts.
    pub(crate) fn sooner(&self) -> Vec<(&'static str, String)> {
        let drafts = self.drafts.iter().map(|drafts| ("drafts", drafts.told()));
        let file = self.prompt_file.iter().map(|file| ("cache", file.told()));
        file.chain(drafts).collect()
    }

    pub(crate) fn check(&self, tokens: &[u32]) -> Result<()> {
        let (context, vocabulary) = (self.config().max_positions, self.config().vocab_size);
        ensure!(!tokens.is_empty(), "there are no tokens to start from");
        ensure!(
            tokens.len() <= context,
            "{} tokens do not fit into the model's context of {context}",
            tokens.len()
        );
        Ok(check_tokens((0..).zip(tokens.iter().copied()), vocabulary)?)
    }

    pub(crate) fn use_vocabulary(&mut self, texts: Vec<Vec<u8>>) {
        self.forms.use_vocabulary(texts);
    }

    pub(crate) fn forget(&mut self) {
        self.session.clear();
    }

    pub(crate) fn logits(&mut self, tokens: &[u32]) -> Result<Tensor> {
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
        if !logits.iter().all(|x| x.is_finite()) {
            return Err(explained(&self.path));
        }
        Ok(Tensor::from_shape_vec(IxDyn(&[tokens.len(), width]), logits)
            .expect("one row for each token"))
    }

    /// Extends the request's prompt; what it shares with the one before it, or with a file, is not
    /// computed again.
    pub(crate) fn answer(
        &mut self,
        request: &Request,
        form: Option<&Form>,
        on_token: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) -> Result<FinishReason> {
        if let Some(file) = &mut self.prompt_file {
            file.restore(&mut self.session, &request.prompt);
        }
        let finish = self.extend(request, form, on_token)?;
        if let Some(file) = &mut self.prompt_file {
            file.save(&self.session, &request.prompt);
        }
        Ok(finish)
    }

    fn extend(
        &mut self,
        request: &Request,
        form: Option<&Form>,
        on_token: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) -> Result<FinishReason> {
        let limits = super::limits(request, self.config().max_positions);
        let (options, mut rng) = (&request.sampling, Rng::new(request.seed));
        let mut sampler = Sampler::new(options.clone());
        let greedy = options.is_greedy();
        if let Some(drafts) = &mut self.drafts {
            let sampling = (options, &mut rng, greedy);
            let ended = drafts.answer(
                &mut self.session,
                (&request.prompt, CHUNK),
                &limits,
                sampling,
                on_token,
            );
            return ended.map_err(|error| {
                if error.is::<NotFinite>() { explained(&self.path) } else { error }
            });
        }
        let mut choose = |logits: &[f32], seen: &[u32]| {
            if greedy { argmax(logits) } else { sampler.choose(logits, seen, rng.uniform()) }
        };
        let watch = Watch::default();
        let formed = form.map(|form| self.forms.constraint(form));
        let formed =
            formed.transpose()?.map(|constraint| Formed::new(constraint, request, &limits));
        let formed = RefCell::new(formed.transpose()?);
        let mut choose = |logits: &[f32], seen: &[u32]| {
            watch.choose(logits, || match &mut *formed.borrow_mut() {
                Some(formed) => formed.choose(logits, seen, &mut choose),
                None => choose(logits, seen),
            })
        };
        let mut on_token = |token| {
            watch.pass_on(token, on_token)?;
            // Nothing more can be said.
            if formed.borrow_mut().as_mut().is_some_and(|formed| formed.accept(token)) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let session = &mut self.session;
        let finish = if let Some(graph) = &mut self.graph {
            let failed = RefCell::new(None);
            let next_logits = |tokens: &[u32]| match graph.logits_after(tokens, CHUNK) {
                Ok(logits) => logits.to_vec(),
                Err(error) => {
                    *failed.borrow_mut() = Some(error);
                    vec![0.0]
                }
            };
            // Whatever is chosen behind an error is nobody's answer.
            let choose = |logits: &[f32], seen: &[u32]| {
                if failed.borrow().is_some() { 0 } else { choose(logits, seen) }
            };
            let on_token = |token| {
                if failed.borrow().is_some() { ControlFlow::Break(()) } else { on_token(token) }
            };
            let finish =
                week1::generate::generate(next_logits, &request.prompt, &limits, choose, on_token);
            if let Some(error) = failed.into_inner() {
                return Err(error);
            }
            finish?
        } else if self.keep_cache {
            session.generate(&request.prompt, CHUNK, &limits, choose, on_token)?
        } else {
            let next_logits = |tokens: &[u32]| {
                session.clear();
                session.feed(tokens, CHUNK).expect("tokens were checked").to_vec()
            };
            week1::generate::generate(next_logits, &request.prompt, &limits, choose, on_token)?
        };
        let is_over = formed.borrow().as_ref().is_some_and(Formed::is_over);
        watch.end(if is_over { FinishReason::Stop } else { finish }, &self.path)
    }
}

/// Writes a model in other types.
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
            eprintln!("not written yet: {task}; one thread is used instead");
        }
        if open.is_some() { 1 } else { physical_cores() }
    }));
    source.write(request.output, target, request.override_for, &team, progress)
}

/// Writes a file of tensors that are made on the way.
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

/// Has the system enter all pages of the weights at once, on all threads: the first pass reads them
/// all.
fn bring_in(model: &Model, plan: &Plan) {
    let matrices: Vec<_> = model.matrices().collect();
    plan.team.parallel_rows(&mut vec![(); matrices.len()], 1, 1, |i, _| {
        matrices[i].shared_bytes().bring_in();
    });
}

/// What was asked for; else, in the learner's engine, what is written, and in ours the best.
pub(super) fn plan(options: &LoadOptions, types: &[TensorType]) -> Result<Plan> {
    let rung = match &options.kernels {
        Some(name) => Some(option("--kernels", name)?),
        None if std::env::var_os(VARIABLE).is_some() => {
            Some(Rung::from_environment().map_err(|e| anyhow!(e))?)
        }
        None => None,
    };
    vector::use_rung(rung.unwrap_or_else(Rung::best));
    let attention = options.attention.as_deref();
    let attention = attention.map(|name| option("--attention", name)).transpose()?;
    let mut plan = Plan {
        kernels: rung.unwrap_or_else(Rung::best).into(),
        attention: attention.unwrap_or_default(),
        team: Team::new(1),
    };
    let mut threads = options.threads.unwrap_or_else(physical_cores);
    if !cfg!(feature = "reference") {
        let written = Written::probe();
        let mut open = BTreeSet::new();
        if rung.is_none() {
            plan.kernels = written.kernels;
            open.extend(written.open_kernels(types));
        }
        if let Some(task) = written.attention.as_deref().filter(|_| attention.is_none()) {
            plan.attention = AttentionKind::TwoPass;
            open.insert(task);
        }
        if let Some(task) = written.threads.as_deref().filter(|_| options.threads.is_none()) {
            threads = 1;
            open.insert(task);
        }
        if !open.is_empty() {
            let open = Vec::from_iter(open).join(", ");
            eprintln!("not written yet: {open}; what is written is used instead");
        }
    }
    plan.team = Team::new(threads);
    Ok(plan)
}

/// How keys and values are stored.
pub(super) fn cache_type(options: &LoadOptions) -> Result<CacheType> {
    named("--cache-type", options.cache_type.as_deref(), CacheType::default)
}

/// A plan in a few words.
pub(super) fn described(plan: &Plan, types: &[TensorType]) -> String {
    let Plan { kernels, attention, team } = plan;
    let (threads, s) = (team.threads(), if team.threads() == 1 { "" } else { "s" });
    format!("{}, {threads} thread{s}, {attention} attention", written::described(kernels, types))
}

/// What an option's value stands for.
fn option<T: FromStr<Err = String>>(option: &str, value: &str) -> Result<T> {
    value.parse().map_err(|error| WrongOption(format!("{option}: {error}")).into())
}

/// The same, or the default.
fn named<T: FromStr<Err = String>>(
    name: &str,
    value: Option<&str>,
    default: impl Fn() -> T,
) -> Result<T> {
    value.map_or_else(|| Ok(default()), |value| option(name, value))
}

/// The limit that memory sets to decoding one token at a time; arithmetic is taken to cost nothing.
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

/// Two threads on one core share its units, and wait for each other at the end of every matrix.
fn physical_cores() -> usize {
    let logical = std::thread::available_parallelism().map_or(1, usize::from);
    let siblings = std::fs::read_to_string("/sys/devices/system/cpu/smt/active")
        .is_ok_and(|text| text.trim() == "1");
    if siblings { (logical / 2).max(1) } else { logical }
}
