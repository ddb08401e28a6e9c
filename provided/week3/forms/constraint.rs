//! Makes an answer obey a grammar, token by token.

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

/// Maximum number of grammar states whose prices ([`Prices::of`]) are stored. The prices of one
/// state take 2 bytes per token of the vocabulary.
pub const MOST_STATES: usize = 512;

/// The bytes of each token. A token that isn't text has no bytes.
#[derive(Debug)]
pub struct Vocabulary {
    texts: Vec<Vec<u8>>,
    trie: TokenTrie,
}

impl Vocabulary {
    /// Creates a vocabulary from the texts of all tokens, in the order of their ids. Special tokens
    /// and padding have empty texts.
    #[must_use]
    pub fn new(texts: Vec<Vec<u8>>) -> Self {
        Self { trie: TokenTrie::new(&texts), texts }
    }

    /// Returns the trie of all tokens' bytes.
    #[must_use]
    pub fn trie(&self) -> &TokenTrie {
        &self.trie
    }

    /// Returns the bytes of all tokens, in the order of their ids.
    #[must_use]
    pub fn texts(&self) -> &[Vec<u8>] {
        &self.texts
    }

    /// Returns the bytes of a token.
    #[must_use]
    pub fn text(&self, token: u32) -> &[u8] {
        &self.texts[token as usize]
    }
}

/// Computes token prices, which [`Prices::of`] defines. [`Prices`] is one implementation, and any
/// other must return the same prices.
pub trait Priced<G: Grammar>: Send {
    /// Returns the prices `[V]` of all tokens in `state`.
    fn of(&mut self, grammar: &G, trie: &TokenTrie, state: &G::State) -> Arc<[u16]>;
}

impl<G: Grammar> Priced<G> for Prices<G::State> {
    fn of(&mut self, grammar: &G, trie: &TokenTrie, state: &G::State) -> Arc<[u16]> {
        self.of(grammar, trie, state)
    }
}

/// A grammar, a vocabulary, and the token prices ([`Prices::of`]) computed so far. Any number of
/// answers can share them.
pub struct Rules<G: Grammar> {
    grammar: G,
    vocabulary: Arc<Vocabulary>,
    prices: Mutex<Box<dyn Priced<G>>>,
}

impl<G: Grammar> Rules<G> {
    /// Creates the rules. The token prices in a state are computed when they are first needed.
    #[must_use]
    pub fn new(grammar: G, vocabulary: Arc<Vocabulary>) -> Self {
        Self::keeping(grammar, vocabulary, MOST_STATES)
    }

    /// Like [`Rules::new`], but stores the token prices of at most `states` grammar states, never
    /// more than [`MOST_STATES`].
    ///
    /// # Panics
    /// If `states` is 0.
    #[must_use]
    pub fn keeping(grammar: G, vocabulary: Arc<Vocabulary>, states: usize) -> Self {
        let prices = Prices::new(states.min(MOST_STATES));
        Self::priced(grammar, vocabulary, Box::new(prices))
    }

    /// Like [`Rules::new`], but uses `prices` to compute token prices.
    #[must_use]
    pub fn priced(grammar: G, vocabulary: Arc<Vocabulary>, prices: Box<dyn Priced<G>>) -> Self {
        Self { grammar, vocabulary, prices: Mutex::new(prices) }
    }
}

/// The state of one answer in its grammar.
#[derive(Clone)]
pub struct Constraint(Box<dyn Follow>);

impl fmt::Debug for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Constraint {{ needed: {:?} }}", self.needed())
    }
}

impl Constraint {
    /// Creates the constraint of an answer that has no tokens yet.
    #[must_use]
    pub fn new<G: Grammar>(rules: &Arc<Rules<G>>) -> Self {
        let rules = Arc::clone(rules);
        Self(Box::new(Follower { state: rules.grammar.start(), rules, cut_short: false }))
    }

    /// Returns the minimum number of tokens that spell [`Constraint::closing_text`]. Returns `None`
    /// if no tokens spell it, or at least `NEVER` tokens are needed.
    #[must_use]
    pub fn needed(&self) -> Option<usize> {
        self.0.needed()
    }

    /// Returns a shortest text that completes the answer.
    #[must_use]
    pub fn closing_text(&self) -> Vec<u8> {
        self.0.closing_text()
    }

    /// Returns whether the answer so far is complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    /// Returns whether the answer is complete, and only white space could still follow.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// Returns whether the token limit changed the answer: at least once, the likeliest valid token
    /// was forbidden because too few tokens were left to complete the answer after it.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.0.is_cut_short()
    }

    /// Checks that `left` more tokens are enough to complete the answer.
    ///
    /// # Errors
    /// If more tokens are needed (the message says how many), or no tokens can complete the answer.
    pub fn fits(&self, left: usize) -> Result<(), String> {
        match self.needed() {
            Some(needed) if needed <= left => Ok(()),
            Some(needed) => Err(format!(
                "found a limit of {left}, expected at least {needed} tokens: the shortest allowed \
                 answer is {:?}",
                String::from_utf8_lossy(&self.closing_text())
            )),
            None => Err("the vocabulary has no tokens for any allowed answer".to_owned()),
        }
    }

    /// Sets the logits `[V]` of invalid tokens to −∞, then chooses the next token with `choose`.
    /// `left` (at least 1) is the maximum number of tokens that may still follow, including this
    /// one. A token in `stop` ends the answer and isn't part of it.
    pub fn choose(
        &mut self,
        logits: &mut [f32],
        (left, stop): (usize, &[u32]),
        choose: impl FnOnce(&[f32]) -> u32,
    ) -> u32 {
        self.0.mask(logits, left, stop);
        let token = choose(logits);
        // With a temperature near 0, the logits of all valid tokens may have overflowed to −∞.
        if logits[token as usize] == f32::NEG_INFINITY { argmax(logits) } else { token }
    }

    /// Like [`Constraint::choose`], with a request's sampler. `seen` holds the request's tokens so
    /// far, including the prompt.
    pub fn choose_with(
        &mut self,
        logits: &mut [f32],
        limits: (usize, &[u32]),
        (sampler, seen): (&mut Sampler, &[u32]),
    ) -> u32 {
        self.choose(logits, limits, |logits| sampler.choose(logits, seen))
    }

    /// Appends the chosen token, and returns whether the answer is now over.
    ///
    /// # Panics
    /// If the grammar doesn't allow the token next.
    pub fn accept(&mut self, token: u32) -> bool {
        self.0.accept(token);
        self.is_over()
    }
}

/// The state of one answer in a grammar, whatever the grammar's type.
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
        // Even if a thread panicked while it held the lock, the stored prices are complete.
        let mut prices = prices.lock().unwrap_or_else(PoisonError::into_inner);
        let prices = prices.of(grammar, vocabulary.trie(), &self.state);
        let too_long = |price: u16| price != NEVER && usize::from(price) >= left;
        let lost = logits.iter().zip(&*prices).filter(|(_, price)| too_long(**price));
        let lost = lost.map(|(&x, _)| x).fold(f32::NEG_INFINITY, f32::max);
        mask(logits, &prices, left, stop, complete);
        // In most steps, the token limit forbids no token, so `lost` is −∞ and the scan is skipped.
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
