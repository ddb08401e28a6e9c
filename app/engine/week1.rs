//! Week 1's engine. Nothing is cached: each new token is one forward pass over all tokens so far.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use anyhow::Result;
use ndarray::{Array2, Axis};
use tiny_llm::week1::{
    generate::{argmax, generate, next_token_logits},
    model::Model,
    sampling::{Rng, Sampler},
    weights::load_model,
};
use tiny_llm_formats::{
    FinishReason, Tensor, checkpoint::Checkpoint, config::ModelConfig, request::Request,
};

use super::finite::{Watch, explained};

/// A model of arrays in f32.
pub(crate) struct Week1 {
    pub(crate) model: Model,
    folder: PathBuf,
}

impl Week1 {
    pub(crate) fn load(folder: &Path) -> Result<Self> {
        let config = ModelConfig::from_folder(folder)?;
        Checkpoint::open(folder)?.check_names(&config)?;
        Ok(Self { model: load_model(folder)?, folder: folder.to_owned() })
    }

    /// Every matrix is read in f32; of the embedding one row, unless it is the output head too.
    pub(crate) fn weight_bytes(&self) -> u64 {
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

    pub(crate) fn logits(&self, tokens: &[u32]) -> Result<Tensor> {
        // (1, L, V) -> (L, V)
        let logits = self.model.forward(&batch_of_one(tokens)).index_axis_move(Axis(0), 0);
        if logits.iter().all(|x| x.is_finite()) { Ok(logits) } else { Err(explained(&self.folder)) }
    }

    /// Extends the request's prompt.
    pub(crate) fn answer(
        &self,
        request: &Request,
        on_token: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) -> Result<FinishReason> {
        let limits = super::limits(request, self.model.config.max_positions);
        let watch = Watch::default();
        let next_logits = |tokens: &[u32]| next_token_logits(&self.model, tokens);
        let on_token = |token| watch.pass_on(token, on_token);
        let finish = if request.sampling.is_greedy() {
            // Day 6 is enough for this; sampling comes on day 7.
            let greedy = |logits: &[f32], _: &[u32]| watch.choose(logits, || argmax(logits));
            generate(next_logits, &request.prompt, &limits, greedy, on_token)
        } else {
            let options = request.sampling.clone();
            let mut sampler = Sampler { options, rng: Rng::new(request.seed) };
            let choose = |logits: &[f32], seen: &[u32]| {
                watch.choose(logits, || sampler.choose(logits, seen))
            };
            generate(next_logits, &request.prompt, &limits, choose, on_token)
        };
        watch.end(finish?, &self.folder)
    }
}

/// `tokens [L]` as a batch `[1, L]`.
pub(crate) fn batch_of_one(tokens: &[u32]) -> Array2<u32> {
    Array2::from_shape_fn((1, tokens.len()), |(_, l)| tokens[l])
}
