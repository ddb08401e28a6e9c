//! What an answer has to be: week 3, day 7.

use std::sync::Arc;

use anyhow::{Context, Error, Result};
use tiny_llm::{
    week1::generate::Limits,
    week3::{
        constraint::{Constraint, Rules, Vocabulary},
        json_grammar::Json,
    },
};
use tiny_llm_cli::{Form, Request};

/// The forms that have been asked for. Answers of the same form share what has been computed of it.
#[derive(Default)]
pub(super) struct Forms {
    vocabulary: Option<Arc<Vocabulary>>,
    json: Option<Arc<Rules<Json>>>,
}

impl Forms {
    /// What the tokens mean.
    pub(super) fn use_vocabulary(&mut self, texts: Vec<Vec<u8>>) {
        *self = Self { vocabulary: Some(Arc::new(Vocabulary::new(texts))), ..Self::default() };
    }

    /// What an answer of this form keeps to.
    ///
    /// # Errors
    /// If nobody has said what the tokens mean.
    pub(super) fn constraint(&mut self, form: Form) -> Result<Constraint> {
        let vocabulary = self.vocabulary.as_ref().context("the tokens have no texts")?;
        match form {
            Form::Json => {
                let rules = || Arc::new(Rules::new(Json::Object, Arc::clone(vocabulary)));
                Ok(Constraint::new(self.json.get_or_insert_with(rules)))
            }
        }
    }
}

/// An answer that keeps to a form, alone.
pub(super) struct Formed {
    constraint: Constraint,
    prompt_len: usize,
    max_new_tokens: usize,
    context: usize,
    stop_tokens: Vec<u32>,
    masked: Vec<f32>,
}

impl Formed {
    /// # Errors
    /// If no answer of that form fits into the tokens that are asked for.
    pub(super) fn new(constraint: Constraint, request: &Request, limits: &Limits) -> Result<Self> {
        let prompt_len = request.prompt.len();
        let formed = Self {
            constraint,
            prompt_len,
            max_new_tokens: limits.max_new_tokens,
            context: limits.context,
            stop_tokens: request.stop_tokens.clone(),
            masked: Vec::new(),
        };
        formed.constraint.fits(formed.left(prompt_len)).map_err(Error::msg)?;
        Ok(formed)
    }

    /// How many more tokens may come, behind so many.
    fn left(&self, seen: usize) -> usize {
        let new = seen - self.prompt_len;
        (self.max_new_tokens - new).min(self.context.saturating_sub(seen))
    }

    /// Chooses the next token from `logits [V]`, behind the tokens `seen`.
    pub(super) fn choose(
        &mut self,
        logits: &[f32],
        seen: &[u32],
        choose: &mut dyn FnMut(&[f32], &[u32]) -> u32,
    ) -> u32 {
        let left = self.left(seen.len());
        self.masked.clear();
        self.masked.extend_from_slice(logits);
        let limits = (left, &self.stop_tokens[..]);
        self.constraint.choose(&mut self.masked, limits, |logits| choose(logits, seen))
    }

    /// Takes the token that was chosen; whether the answer is over with it.
    pub(super) fn accept(&mut self, token: u32) -> bool {
        self.constraint.accept(token)
    }

    /// Whether nothing more can be said.
    pub(super) fn is_over(&self) -> bool {
        self.constraint.is_over()
    }
}
