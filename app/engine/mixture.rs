//! Week 4's engine for models with experts.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Result, bail};
use ndarray::IxDyn;
use tiny_llm::{
    week1,
    week2::{cache::CacheType, gguf::Gguf},
    week4::mixture::{load, model::Seen, session::MixtureSession},
};
use tiny_llm_cli::{
    About, Batch, BatchOptions, ExpertsSeen, Form, LoadOptions, Model, OnToken, TokenBytes,
    WrongOption,
};
use tiny_llm_formats::{
    FinishReason, Tensor,
    config::{ModelConfig, mixture::MixtureConfig},
    gguf::Metadata,
    request::{Request, check_prompt},
};

use super::{
    choose::{Chooser, sample},
    finite,
    model::{AnyModel, Loaded},
    plan, week3,
};

/// Default maximum context. It limits the memory for keys and values.
const DEFAULT_CONTEXT: usize = 4096;
/// Rows of a prompt per forward pass.
const CHUNK: usize = 512;

/// A mixture-of-experts model with its cache.
pub(crate) struct Mixture {
    /// Metadata of the GGUF file. `None` for a folder, or after it was moved out.
    metadata: Option<Metadata>,
    session: MixtureSession,
    cache_type: CacheType,
    path: PathBuf,
    described: String,
}

/// Returns whether the file or folder at `path` is a mixture-of-experts model. Returns false if it
/// cannot be read.
pub(crate) fn is_mixture(path: &Path) -> bool {
    if path.is_file() {
        return Gguf::open(path).is_ok_and(|gguf| MixtureConfig::is_gguf(&gguf.metadata));
    }
    MixtureConfig::is_folder(path)
}

impl Mixture {
    pub(crate) fn load(path: &Path, options: &LoadOptions) -> Result<Self> {
        for (given, option) in [
            (options.week.is_some_and(|week| week != 2), "--week"),
            (options.engine.as_deref().is_some_and(|engine| engine != "direct"), "--engine"),
            (options.draft.is_some(), "--draft"),
            (options.cache_file.is_some(), "--cache"),
            (options.no_cache, "--no-cache"),
            (options.repack, "--repack"),
            (options.attention.is_some(), "--attention"),
        ] {
            if given {
                let problem = format!("{option}: not supported for a model with experts");
                return Err(WrongOption(problem).into());
            }
        }
        let context = options.context.unwrap_or(DEFAULT_CONTEXT);
        let (model, metadata) = if path.is_file() {
            let gguf = Gguf::open(path)?;
            (load::load_gguf(&gguf, context)?, Some(gguf.metadata))
        } else {
            (load::load_folder(path, context)?, None)
        };
        let mut types: Vec<_> = model.matrices().map(|matrix| matrix.tensor_type).collect();
        types.sort_unstable();
        types.dedup();
        let plan = plan::plan(options, &types)?;
        let cache_type = plan::cache_type(options)?;
        let described = format!(
            "{} of {} experts per token, {}, {cache_type} cache",
            model.config.per_token,
            model.config.experts,
            plan::described(&plan, &types)
        );
        let session = MixtureSession::new(Arc::new(model), Arc::new(plan), CHUNK, cache_type);
        Ok(Self { metadata, session, cache_type, path: path.to_owned(), described })
    }
}

impl Model for Mixture {
    fn config(&self) -> &ModelConfig {
        &self.session.model.config.base
    }

    fn about(&self) -> About {
        About {
            described: self.described.clone(),
            weight_bytes: self.session.model.token_bytes(),
            threads: self.session.plan.team.threads(),
            matrix_units: false,
        }
    }

    fn take_metadata(&mut self) -> Option<Metadata> {
        self.metadata.take()
    }

    fn clear_cache(&mut self) {
        self.session.clear();
    }

    fn logits(&mut self, tokens: &[u32]) -> Result<Tensor> {
        self.session.clear();
        let width = self.config().vocab_size;
        let mut logits = Vec::with_capacity(tokens.len() * width);
        for end in 1..=tokens.len() {
            logits.extend_from_slice(self.session.logits_after(&tokens[..end], |_| {})?);
        }
        finite::check(&logits, &self.path)?;
        Ok(Tensor::from_shape_vec(IxDyn(&[tokens.len(), width]), logits)?)
    }

    fn generate(
        &mut self,
        request: &Request,
        form: Option<&Form>,
        on_token: &mut OnToken<'_>,
    ) -> Result<FinishReason> {
        if form.is_some() {
            bail!("a model with experts does not support constrained answers");
        }
        let limits = super::limits(request, self.config().max_positions);
        let chooser = RefCell::new(Chooser::new(sample(request), None));
        let session = &mut self.session;
        let next_logits = |tokens: &[u32]| {
            session.logits_after(tokens, |_| {}).expect("tokens were checked").to_vec()
        };
        let finish = week1::generate::generate(
            next_logits,
            &request.prompt,
            &limits,
            |logits, seen| chooser.borrow_mut().choose(logits, seen),
            |token| chooser.borrow_mut().accept(token, on_token),
        )?;
        chooser.into_inner().end(finish, &self.path)
    }

    fn into_batch(
        self: Box<Self>,
        options: BatchOptions,
        token_bytes: TokenBytes,
    ) -> Result<Box<dyn Batch>> {
        let Self { session, cache_type, .. } = *self;
        let model = AnyModel::Experts(session.model);
        week3::open(Loaded { model, plan: session.plan, cache_type }, options, token_bytes)
    }
}

/// Runs a model on a text, one token at a time, and returns the experts of each token.
pub(crate) fn experts(path: &Path, options: &LoadOptions, tokens: &[u32]) -> Result<ExpertsSeen> {
    if !is_mixture(path) {
        bail!("this model has no experts: expected a Qwen3-MoE or gpt-oss model");
    }
    Mixture::load(path, options)?.experts(tokens)
}

impl Mixture {
    fn experts(&mut self, tokens: &[u32]) -> Result<ExpertsSeen> {
        let config = &self.session.model.config;
        check_prompt(tokens, config.base.max_positions, config.base.vocab_size)?;
        self.session.clear();
        let config = &self.session.model.config;
        let mut seen = ExpertsSeen {
            experts: config.experts,
            per_token: config.per_token,
            all_bytes: self.session.model.weight_bytes(),
            ..ExpertsSeen::default()
        };
        for end in 1..=tokens.len() {
            let mut pass = Seen::default();
            self.session.logits_after(&tokens[..end], |found| pass = found.clone())?;
            seen.expert_bytes += pass.expert_bytes as u64;
            seen.shared_bytes += pass.shared_bytes as u64;
            let each = pass.chosen.into_iter().zip(pass.weights);
            let both = |(chosen, weights): (Vec<usize>, Vec<f32>)| {
                chosen.into_iter().zip(weights).collect()
            };
            seen.tokens.push(each.map(both).collect());
        }
        seen.pages = self.session.cache().pages_in_use();
        Ok(seen)
    }
}
