//! What can be asked of an engine between two steps.

use crate::week3::{
    ahead::{Ahead, Drafted},
    engine::Engine,
    extras::Chosen,
    options::Counts,
    pass::Pass,
    request::{RequestId, Sequence},
    room::EngineCache,
};

impl<C: EngineCache, P: Pass<C>> Engine<C, P> {
    /// Whether nothing is left to be done.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty()
    }

    /// The requests that have a place in the cache, in the order in which they came.
    #[must_use]
    pub fn running(&self) -> &[Sequence] {
        &self.running
    }

    /// How many requests wait.
    #[must_use]
    pub fn num_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// What has been done so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// How probable the tokens of the last step were, of the requests that want to know: each as
    /// its [`Event::Token`](crate::week3::engine::Event::Token) came.
    pub fn take_chosen(&mut self) -> Vec<(RequestId, Chosen)> {
        std::mem::take(&mut self.chosen)
    }

    /// How many positions of its tokens were in the cache already, for each request that was let in
    /// by the last step.
    pub fn take_found(&mut self) -> Vec<(RequestId, usize)> {
        std::mem::take(&mut self.found)
    }

    /// What answers the rows.
    #[must_use]
    pub fn pass(&self) -> &P {
        &self.pass
    }

    /// How many positions were in the cache already when requests were let in.
    #[must_use]
    pub fn attached(&self) -> u64 {
        self.attached
    }

    /// Where the keys and values are.
    #[must_use]
    pub fn cache(&self) -> &C {
        &self.cache
    }

    /// What became of drafts.
    #[must_use]
    pub fn drafted(&self) -> Drafted {
        self.ahead.as_ref().map(Ahead::counts).unwrap_or_default()
    }
}
