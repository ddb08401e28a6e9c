//! Constrained answers (week 3, day 7).
//!
//! The price of a token is the minimum number of tokens that complete the answer after it. The
//! learner's engine computes prices with the learner's `Prices`. The reference uses the crate
//! `schema`, which computes equal prices faster.

use std::sync::{Arc, OnceLock};

use anyhow::{Context, Error, Result};
use tiny_llm::{
    week1::generate::Limits,
    week3::{
        constraint::{Constraint, MOST_STATES, Priced, Rules, Vocabulary},
        grammar::Grammar,
        json_grammar::Json,
        token_trie::TokenTrie,
    },
};
use tiny_llm_cli::{Follow, Form, Shape, ShapeState, TokenPrices, TokenTree};
use tiny_llm_formats::{FinishReason, request::Request};

/// Maximum number of forms (schemas and lists of tools) whose computed prices are kept.
const MOST_SHAPES: usize = 8;
/// Maximum bytes of prices kept for each schema or list of tools.
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

/// A grammar, adapted to the trait that the crate `schema` needs.
struct Followed<'a, G>(&'a G);

impl<G: Grammar> Follow for Followed<'_, G> {
    type State = G::State;

    fn next(&self, state: &G::State, byte: u8) -> Option<G::State> {
        self.0.next(state, byte)
    }

    fn closing_text(&self, state: &G::State) -> Vec<u8> {
        self.0.closing_text(state)
    }
}

/// Prices computed by the crate `schema`.
struct Walked<G: Grammar> {
    tree: Arc<TokenTree>,
    prices: TokenPrices<G::State>,
}

impl<G: Grammar> Priced<G> for Walked<G> {
    fn of(&mut self, grammar: &G, _: &TokenTrie, state: &G::State) -> Arc<[u16]> {
        self.prices.of(&Followed(grammar), &self.tree, state)
    }
}

/// A model's tokens, for building constraints on answers.
struct Tokens {
    vocabulary: Arc<Vocabulary>,
    tree: OnceLock<Arc<TokenTree>>,
}

impl Tokens {
    /// Creates the rules of a grammar. They keep the prices of at most `states` states.
    fn rules<G: Grammar>(&self, grammar: G, states: usize) -> Arc<Rules<G>> {
        let vocabulary = Arc::clone(&self.vocabulary);
        if !cfg!(feature = "reference") {
            return Arc::new(Rules::keeping(grammar, vocabulary, states));
        }
        let tree = self.tree.get_or_init(|| Arc::new(TokenTree::new(vocabulary.texts())));
        let prices = TokenPrices::new(states.min(MOST_STATES));
        let prices = Walked { tree: Arc::clone(tree), prices };
        Arc::new(Rules::priced(grammar, vocabulary, Box::new(prices)))
    }
}

/// Creates the constraints on answers. Answers with the same constraint share computed prices.
#[derive(Default)]
pub(super) struct Forms {
    tokens: Option<Tokens>,
    json: Option<Arc<Rules<Json>>>,
    /// The rules of each schema or list of tools, the most recently used last.
    shapes: Vec<(Arc<Shape>, Arc<Rules<Shaped>>)>,
}

impl Forms {
    /// Sets the bytes of each token's text, and drops all computed prices.
    pub(super) fn use_vocabulary(&mut self, texts: Vec<Vec<u8>>) {
        let vocabulary = Arc::new(Vocabulary::new(texts));
        let tokens = Tokens { vocabulary, tree: OnceLock::new() };
        *self = Self { tokens: Some(tokens), ..Self::default() };
    }

    /// Returns the constraint for an answer of this form.
    ///
    /// # Errors
    /// If [`Forms::use_vocabulary`] has not been called.
    pub(super) fn constraint(&mut self, form: &Form) -> Result<Constraint> {
        let tokens = self
            .tokens
            .as_ref()
            .context("the model has no tokenizer, which a constrained answer needs")?;
        match form {
            Form::Json => {
                let rules = || tokens.rules(Json::Object, MOST_STATES);
                Ok(Constraint::new(self.json.get_or_insert_with(rules)))
            }
            Form::Shape(shape) => {
                let known = self.shapes.iter().position(|(known, _)| known == shape);
                let found = known.map(|at| self.shapes.remove(at)).unwrap_or_else(|| {
                    let count = tokens.vocabulary.trie().vocabulary().max(1);
                    let states = (SHAPE_BYTES / 2 / count).max(32);
                    (Arc::clone(shape), tokens.rules(Shaped(Arc::clone(shape)), states))
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

/// A constrained answer outside a batch.
pub(super) struct FormedAnswer {
    constraint: Constraint,
    prompt_len: usize,
    max_new_tokens: usize,
    context: usize,
    stop_tokens: Vec<u32>,
    masked: Vec<f32>,
}

impl FormedAnswer {
    /// # Errors
    /// If no answer that obeys `constraint` fits within the maximum number of tokens.
    pub(super) fn new(constraint: Constraint, request: &Request, limits: &Limits) -> Result<Self> {
        let prompt_len = request.prompt.len();
        let answer = Self {
            constraint,
            prompt_len,
            max_new_tokens: limits.max_new_tokens,
            context: limits.context,
            stop_tokens: request.stop_tokens.clone(),
            masked: Vec::new(),
        };
        answer.constraint.fits(answer.left(prompt_len)).map_err(Error::msg)?;
        Ok(answer)
    }

    /// Returns how many more tokens may follow the first `seen` tokens of prompt and answer.
    fn left(&self, seen: usize) -> usize {
        let new = seen - self.prompt_len;
        (self.max_new_tokens - new).min(self.context.saturating_sub(seen))
    }

    /// Chooses the next token from `logits [V]`, after the tokens `seen`. `choose` picks one of the
    /// tokens that the constraint allows.
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

    /// Adds the chosen token. Returns whether the answer is complete.
    pub(super) fn accept(&mut self, token: u32) -> bool {
        self.constraint.accept(token)
    }

    /// Returns why the answer ended. `reason` is the reason that the engine found.
    pub(super) fn reason(&self, reason: FinishReason) -> FinishReason {
        let reason = if self.constraint.is_over() { FinishReason::Stop } else { reason };
        let cut_short = reason == FinishReason::Stop && self.constraint.is_cut_short();
        if cut_short { FinishReason::Length } else { reason }
    }
}
