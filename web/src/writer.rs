//! The embedded model, one token at a time: week 2's session with week 1's sampler.

use std::sync::Arc;

use anyhow::{Result, ensure};
use tiny_llm_formats::{bytes::Bytes, text::Tokenizer};
use tiny_llm_reference::{
    week1::{
        sampling::{Rng, Sampler, SamplerOptions},
        stream::TextStream,
    },
    week2::{
        cache::{CacheShape, CacheType, DenseCache},
        generate::Session,
        gguf::Gguf,
        kernels::Rung,
        load::load_gguf,
        parallel::Team,
        plan::{AttentionKind, Plan},
    },
};

use crate::watched::Watched;

/// Number of prompt rows per forward pass.
const CHUNK: usize = 64;

/// A model and the text that it writes.
pub struct Writer {
    session: Session<Watched>,
    tokenizer: Tokenizer,
    sampler: Sampler,
    /// Tokens of the text so far: the prompt, then the answer.
    tokens: Vec<u32>,
    stream: TextStream,
}

impl Writer {
    /// Loads the model in the GGUF file with the bytes `file`. `name` is for error messages. `rung`
    /// names a rung (one set of kernels). If it is empty, the fastest rung is used.
    ///
    /// # Errors
    /// If the file is malformed, this engine doesn't support its model or tokenizer, or there is no
    /// such rung.
    pub fn new(file: Vec<u8>, name: &str, rung: &str) -> Result<Self> {
        let rung = match rung {
            "" => Rung::best(),
            rung => rung.parse().map_err(anyhow::Error::msg)?,
        };
        let gguf = Gguf::parse(Bytes::from(file), name)?;
        let tokenizer = Tokenizer::from_gguf(&gguf.metadata)?;
        let model = load_gguf(&gguf, usize::MAX)?;
        let c = &model.config;
        let shape = CacheShape::of(c, 1, c.max_positions);
        let plan =
            Plan { kernels: rung.into(), attention: AttentionKind::Streaming, team: Team::new(1) };
        let cache = Watched::new(DenseCache::new(shape, CacheType::F32));
        Ok(Self {
            session: Session::with_cache(Arc::new(model), Arc::new(plan), cache),
            tokenizer,
            sampler: Sampler { options: SamplerOptions::default(), rng: Rng::new(0) },
            tokens: Vec::new(),
            stream: TextStream::default(),
        })
    }

    /// Returns the rung whose kernels multiply this model's matrices.
    #[must_use]
    pub fn rung(&self) -> &'static str {
        let types = self.session.model.matrices().map(|matrix| matrix.tensor_type);
        let rungs = types.map(|tensor_type| self.session.plan.kernels.rung(tensor_type));
        rungs.max().unwrap_or(Rung::Naive).name()
    }

    /// Returns the number of layers, and the number of query heads in a layer.
    #[must_use]
    pub fn heads(&self) -> [usize; 2] {
        let c = &self.session.model.config;
        [c.n_layers, c.n_heads]
    }

    /// Begins a text with `prompt`. Returns the text of each of the prompt's tokens.
    ///
    /// # Errors
    /// If the prompt has no tokens, or too many.
    pub fn begin(&mut self, prompt: &str, temperature: f32, seed: u64) -> Result<Vec<String>> {
        let tokens = self.tokenizer.encode_prompt(prompt)?;
        let context = self.session.model.config.max_positions;
        ensure!(!tokens.is_empty(), "There is nothing to go on from: write a few words.");
        ensure!(
            tokens.len() < context,
            "That's {} tokens; the model has seen texts of at most {context}.",
            tokens.len()
        );
        self.session.clear();
        let options = SamplerOptions { temperature, ..SamplerOptions::default() };
        self.sampler = Sampler { options, rng: Rng::new(seed) };
        self.stream = TextStream::default();
        let texts = tokens.iter().map(|&token| self.text_of(token)).collect();
        self.tokens = tokens;
        Ok(texts)
    }

    /// Chooses and returns the next token. Returns `None` if the text has ended.
    ///
    /// # Errors
    /// If no text was begun.
    pub fn next_token(&mut self) -> Result<Option<u32>> {
        if self.tokens.len() >= self.session.model.config.max_positions {
            return Ok(None);
        }
        let known = self.session.tokens().len();
        let logits = self.session.feed(&self.tokens[known..], CHUNK)?;
        let token = self.sampler.choose(logits, &self.tokens);
        if self.session.model.config.eos_token_ids.contains(&token) {
            return Ok(None);
        }
        self.tokens.push(token);
        Ok(Some(token))
    }

    /// Returns the text that the next token `token` adds. A character may span several tokens.
    pub fn text_of(&mut self, token: u32) -> String {
        self.stream.push(&self.tokenizer.token_bytes(token))
    }

    /// Returns the attention weights with which the last token was chosen:
    /// `[layers, H_q, positions]`.
    #[must_use]
    pub fn attention(&self) -> Vec<f32> {
        self.session.cache().weights()
    }

    /// Begins a text with `prompt`, and returns the logits after it. They serve to compare rungs.
    ///
    /// # Errors
    /// In the same cases as [`Writer::begin`].
    pub fn logits(&mut self, prompt: &str) -> Result<Vec<f32>> {
        self.begin(prompt, 0.0, 0)?;
        Ok(self.session.feed(&self.tokens, CHUNK)?.to_vec())
    }
}
