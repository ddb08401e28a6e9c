//! What an answer has to be: week 3, day 7.

use std::sync::Arc;

use anyhow::{Context, Error, Result};
use tiny_llm::{
    week1::generate::Limits,
    week3::{
        constraint::{Constraint, Rules, Vocabulary},
        grammar::Grammar,
        json_grammar::Json,
    },
};
use tiny_llm_cli::{Form, Request, Shape, ShapeState};

/// Of so many schemas and lists of tools it is known what has been computed of them.
const MOST_SHAPES: usize = 8;
/// Bytes of prices that are kept of each.
const SHAPE_BYTES: usize = 32 << 20;

/// A schema or a list of tools as a grammar.
struct Shaped(Arc<Shape>);

impl Grammar for Shaped {
    type State = ShapeState;

    fn start(&self) -> ShapeState {
        self.0.start()
    }

    fn next(&self, state: &ShapeState, byte: u8) -> Option<ShapeState> {
        self.0.next(state, byte)
    }

    fn is_complete(&self, state: &ShapeState) -> bool {
        self.0.is_complete(state)
    }

    fn is_over(&self, state: &ShapeState) -> bool {
        self.0.is_over(state)
    }

    fn closing_byte(&self, state: &ShapeState) -> Option<u8> {
        self.0.closing_text(state).first().copied()
    }

    fn closing_text(&self, state: &ShapeState) -> Vec<u8> {
        self.0.closing_text(state)
    }
}

/// The forms that have been asked for. Answers of the same form share what has been computed of it.
#[derive(Default)]
pub(super) struct Forms {
    vocabulary: Option<Arc<Vocabulary>>,
    json: Option<Arc<Rules<Json>>>,
    /// The one that was asked for last stands last.
    shapes: Vec<(Arc<Shape>, Arc<Rules<Shaped>>)>,
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
    pub(super) fn constraint(&mut self, form: &Form) -> Result<Constraint> {
        let vocabulary = self.vocabulary.as_ref().context("the tokens have no texts")?;
        match form {
            Form::Json => {
                let rules = || Arc::new(Rules::new(Json::Object, Arc::clone(vocabulary)));
                Ok(Constraint::new(self.json.get_or_insert_with(rules)))
            }
            Form::Shape(shape) => {
                let known = self.shapes.iter().position(|(known, _)| known == shape);
                let found = known.map(|at| self.shapes.remove(at)).unwrap_or_else(|| {
                    let states = (SHAPE_BYTES / 2 / vocabulary.trie().vocabulary().max(1)).max(32);
                    let grammar = Shaped(Arc::clone(shape));
                    let rules = Rules::keeping(grammar, Arc::clone(vocabulary), states);
                    (Arc::clone(shape), Arc::new(rules))
                });
                if self.shapes.len() >= MOST_SHAPES {
                    self.shapes.remove(0);
                }
                let constraint = Constraint::new(&found.1);
                self.shapes.push(found);
                Ok(constraint)
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
