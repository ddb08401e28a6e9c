//! A grammar that an answer keeps to, token by token.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use crate::week1::generate::argmax;
use crate::week3::{
    grammar::Grammar,
    sampler::Sampler,
    token_trie::TokenTrie,
    whole::{NEVER, Prices, fewest_tokens, mask},
};

/// Prices of at most this many states are kept: 2 bytes for each token of the vocabulary and state.
pub const MOST_STATES: usize = 512;

/// What the tokens mean: the bytes of each, and none for one that is no text.
#[derive(Debug)]
pub struct Vocabulary {
    texts: Vec<Vec<u8>>,
    trie: TokenTrie,
}

impl Vocabulary {
    /// Of the texts of all tokens, by their ids; empty for special ones and for those that pad the
    /// vocabulary.
    #[must_use]
    pub fn new(texts: Vec<Vec<u8>>) -> Self {
        Self { trie: TokenTrie::new(&texts), texts }
    }

    /// Their tree.
    #[must_use]
    pub fn trie(&self) -> &TokenTrie {
        &self.trie
    }

    /// The bytes of each token, by their ids.
    #[must_use]
    pub fn texts(&self) -> &[Vec<u8>] {
        &self.texts
    }

    /// The bytes of a token.
    #[must_use]
    pub fn text(&self, token: u32) -> &[u8] {
        &self.texts[token as usize]
    }
}

/// What says, of a state, the price of each token: [`Prices`], or whatever finds the same ones.
pub trait Priced<G: Grammar>: Send {
    /// The prices `[V]` in this state, as [`Prices::of`] has them.
    fn of(&mut self, grammar: &G, trie: &TokenTrie, state: &G::State) -> Arc<[u16]>;
}

impl<G: Grammar> Priced<G> for Prices<G::State> {
    fn of(&mut self, grammar: &G, trie: &TokenTrie, state: &G::State) -> Arc<[u16]> {
        self.of(grammar, trie, state)
    }
}

/// A grammar over a vocabulary, for any number of answers. What one has computed, all know.
pub struct Rules<G: Grammar> {
    grammar: G,
    vocabulary: Arc<Vocabulary>,
    prices: Mutex<Box<dyn Priced<G>>>,
}

impl<G: Grammar> Rules<G> {
    /// Nothing has been computed yet.
    #[must_use]
    pub fn new(grammar: G, vocabulary: Arc<Vocabulary>) -> Self {
        Self::keeping(grammar, vocabulary, MOST_STATES)
    }

    /// The same, where prices of fewer states are kept.
    ///
    /// # Panics
    /// If of none are.
    #[must_use]
    pub fn keeping(grammar: G, vocabulary: Arc<Vocabulary>, states: usize) -> Self {
        let prices = Prices::new(states.min(MOST_STATES));
        Self::priced(grammar, vocabulary, Box::new(prices))
    }

    /// The same, where something else says the prices.
    #[must_use]
    pub fn priced(grammar: G, vocabulary: Arc<Vocabulary>, prices: Box<dyn Priced<G>>) -> Self {
        Self { grammar, vocabulary, prices: Mutex::new(prices) }
    }
}

/// What one answer may still become.
#[derive(Clone)]
pub struct Constraint(Box<dyn Follow>);

impl fmt::Debug for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Constraint {{ needed: {:?} }}", self.needed())
    }
}

impl Constraint {
    /// Before the first token.
    #[must_use]
    pub fn new<G: Grammar>(rules: &Arc<Rules<G>>) -> Self {
        let rules = Arc::clone(rules);
        Self(Box::new(Follower { state: rules.grammar.start(), rules, cut_short: false }))
    }

    /// How many tokens make a whole of the answer so far; `None` if none do.
    #[must_use]
    pub fn needed(&self) -> Option<usize> {
        self.0.needed()
    }

    /// The text that these tokens are.
    #[must_use]
    pub fn closing_text(&self) -> Vec<u8> {
        self.0.closing_text()
    }

    /// Whether the answer is whole as it stands.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    /// Whether it is whole, and nothing more can be said.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// Whether the answer would have been longer: the likeliest token that may follow was ruled out
    /// at least once, because too few tokens were left to make a whole of what it begins.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.0.is_cut_short()
    }

    /// Whether `left` more tokens suffice, where at most that many may come.
    ///
    /// # Errors
    /// If they don't, with the number that would.
    pub fn fits(&self, left: usize) -> Result<(), String> {
        match self.needed() {
            Some(needed) if needed <= left => Ok(()),
            Some(needed) => Err(format!(
                "a budget of {left} is too small for any answer of the form that is asked for: \
                 the shortest takes {needed} tokens, {:?}",
                String::from_utf8_lossy(&self.closing_text())
            )),
            None => Err("the vocabulary has no tokens for an answer of the form that is asked for"
                .to_owned()),
        }
    }

    /// Chooses the next token from `logits [V]`, which are changed, after the tokens `seen`, prompt
    /// included. At most `left` more may come, this one included (1 or more); those of `stop` end the
    /// answer and are no part of it.
    pub fn choose(
        &mut self,
        logits: &mut [f32],
        (left, stop): (usize, &[u32]),
        choose: impl FnOnce(&[f32]) -> u32,
    ) -> u32 {
        self.0.mask(logits, left, stop);
        let token = choose(logits);
        // With a temperature near 0 all that is allowed may have overflowed to −∞.
        if logits[token as usize] == f32::NEG_INFINITY { argmax(logits) } else { token }
    }

    /// The same with a request's sampler.
    pub fn choose_with(
        &mut self,
        logits: &mut [f32],
        limits: (usize, &[u32]),
        (sampler, seen): (&mut Sampler, &[u32]),
    ) -> u32 {
        self.choose(logits, limits, |logits| sampler.choose(logits, seen))
    }

    /// Takes the token that was chosen, and returns whether the answer is over with it.
    ///
    /// # Panics
    /// If the token may not follow.
    pub fn accept(&mut self, token: u32) -> bool {
        self.0.accept(token);
        self.is_over()
    }
}

/// A grammar of any kind, and a state of it.
trait Follow: Send {
    fn needed(&self) -> Option<usize>;
    fn closing_text(&self) -> Vec<u8>;
    fn is_complete(&self) -> bool;
    fn is_over(&self) -> bool;
    fn is_cut_short(&self) -> bool;
    fn mask(&mut self, logits: &mut [f32], left: usize, stop: &[u32]);
    fn accept(&mut self, token: u32);
    fn cloned(&self) -> Box<dyn Follow>;
}

impl Clone for Box<dyn Follow> {
    fn clone(&self) -> Self {
        self.cloned()
    }
}

struct Follower<G: Grammar> {
    rules: Arc<Rules<G>>,
    state: G::State,
    cut_short: bool,
}

impl<G: Grammar> Follow for Follower<G> {
    fn needed(&self) -> Option<usize> {
        fewest_tokens(self.rules.vocabulary.trie(), &self.closing_text())
            .filter(|&n| n < NEVER.into())
    }

    fn closing_text(&self) -> Vec<u8> {
        self.rules.grammar.closing_text(&self.state)
    }

    fn is_complete(&self) -> bool {
        self.rules.grammar.is_complete(&self.state)
    }

    fn is_over(&self) -> bool {
        self.rules.grammar.is_over(&self.state)
    }

    fn is_cut_short(&self) -> bool {
        self.cut_short
    }

    fn mask(&mut self, logits: &mut [f32], left: usize, stop: &[u32]) {
        let complete = self.is_complete();
        let Rules { grammar, vocabulary, prices } = &*self.rules;
        // Whoever panicked while it had the prices has left none half written.
        let mut prices = prices.lock().unwrap_or_else(PoisonError::into_inner);
        let prices = prices.of(grammar, vocabulary.trie(), &self.state);
        let too_long = |price: u16| price != NEVER && usize::from(price) >= left;
        let lost = logits.iter().zip(&*prices).filter(|(_, price)| too_long(**price));
        let lost = lost.map(|(&x, _)| x).fold(f32::NEG_INFINITY, f32::max);
        mask(logits, &prices, left, stop, complete);
        // Most steps are far from the end, and lose nothing.
        self.cut_short |= lost > f32::NEG_INFINITY && logits.iter().all(|&x| x < lost);
    }

    fn accept(&mut self, token: u32) {
        let Rules { grammar, vocabulary, .. } = &*self.rules;
        for &byte in vocabulary.text(token) {
            self.state = grammar.next(&self.state, byte).expect("the token may follow");
        }
    }

    fn cloned(&self) -> Box<dyn Follow> {
        let Self { rules, state, cut_short } = self;
        Box::new(Self { rules: Arc::clone(rules), state: state.clone(), cut_short: *cut_short })
    }
}
