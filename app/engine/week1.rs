//! Week 1's engine. It has no cache: each new token is a forward pass over all tokens so far.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail, ensure};
use ndarray::{Array2, Axis};
use tiny_llm::week1::{
    activations,
    generate::{argmax, generate, next_token_logits},
    model,
    sampling::{Rng, Sampler},
    weights::load_model,
};
use tiny_llm_cli::{
    About, ActivationsRequest, Batch, BatchOptions, Form, Model, OnActivation, OnToken, TokenBytes,
};
use tiny_llm_formats::{
    FinishReason, Tensor, checkpoint::Checkpoint, config::ModelConfig, request::Request,
};

use super::{
    choose::{Chooser, Sample},
    finite::explained,
    mixture,
};

/// A model whose weights are f32 arrays.
pub(crate) struct Week1 {
    model: model::Model,
    folder: PathBuf,
}

impl Week1 {
    pub(crate) fn load(folder: &Path) -> Result<Self> {
        let config = ModelConfig::from_folder(folder)?;
        let checkpoint = Checkpoint::open(folder)?;
        checkpoint.check_names(&config)?;
        checkpoint.check_finite()?;
        Ok(Self { model: load_model(folder)?, folder: folder.to_owned() })
    }

    /// Returns the size in bytes of all matrices, in f32. The embedding counts only if it is also
    /// the output head. Otherwise a token reads only one row of the embedding.
    fn weight_bytes(&self) -> u64 {
        let model = &self.model;
        let head =
            model.lm_head.as_ref().map_or(&model.embedding.weight, |head| &head.weight).len();
        let layers = model.blocks.iter().map(|block| {
            let (attention, mlp) = (&block.attention, &block.mlp);
            let projections =
                [&attention.q_proj, &attention.k_proj, &attention.v_proj, &attention.o_proj]
                    .map(|linear| linear.weight.len());
            projections.iter().sum::<usize>()
                + mlp.gate_proj.len()
                + mlp.up_proj.len()
                + mlp.down_proj.len()
        });
        4 * (head + layers.sum::<usize>()) as u64
    }
}

impl Model for Week1 {
    fn config(&self) -> &ModelConfig {
        &self.model.config
    }

    fn about(&self) -> About {
        let described = "week 1: f32, nothing cached".to_owned();
        About { described, weight_bytes: self.weight_bytes(), threads: 1, matrix_units: false }
    }

    fn logits(&mut self, tokens: &[u32]) -> Result<Tensor> {
        // (1, L, V) -> (L, V)
        let logits = self.model.forward(&batch_of_one(tokens)).index_axis_move(Axis(0), 0);
        if logits.iter().all(|x| x.is_finite()) { Ok(logits) } else { Err(explained(&self.folder)) }
    }

    fn generate(
        &mut self,
        request: &Request,
        _form: Option<&Form>,
        on_token: &mut OnToken<'_>,
    ) -> Result<FinishReason> {
        let limits = super::limits(request, self.model.config.max_positions);
        let sample: Sample = if request.sampling.is_greedy() {
            // Day 6 needs only `argmax`. Day 7 adds sampling.
            Box::new(|logits, _| argmax(logits))
        } else {
            let options = request.sampling.clone();
            let mut sampler = Sampler { options, rng: Rng::new(request.seed) };
            Box::new(move |logits, seen| sampler.choose(logits, seen))
        };
        let chooser = RefCell::new(Chooser::new(sample, None));
        let finish = generate(
            |tokens| next_token_logits(&self.model, tokens),
            &request.prompt,
            &limits,
            |logits, seen| chooser.borrow_mut().choose(logits, seen),
            |token| chooser.borrow_mut().accept(token, on_token),
        )?;
        chooser.into_inner().end(finish, &self.folder)
    }

    fn into_batch(self: Box<Self>, _: BatchOptions, _: TokenBytes) -> Result<Box<dyn Batch>> {
        bail!("week 1's engine computes one text at a time")
    }
}

/// Runs week 1's model on the request's tokens, and passes every intermediate result to `each`.
/// Before the run, calls `ready`: the model is loaded, and the tokens are checked.
pub(crate) fn activations(
    request: &ActivationsRequest<'_>,
    ready: &mut dyn FnMut() -> Result<()>,
    each: &mut OnActivation<'_>,
) -> Result<()> {
    let ActivationsRequest { model, options, tokens } = request;
    ensure!(
        !model.is_file() && options.week != Some(2) && !mixture::is_mixture(model),
        "only week 1's engine can list activations; give a model folder"
    );
    let Week1 { model, .. } = Week1::load(model)?;
    model.check(tokens)?;
    ready()?;
    activations::activations(&model, &batch_of_one(tokens), each);
    Ok(())
}

/// Returns `tokens [L]` as a batch `[1, L]`.
fn batch_of_one(tokens: &[u32]) -> Array2<u32> {
    Array2::from_shape_fn((1, tokens.len()), |(_, l)| tokens[l])
}
