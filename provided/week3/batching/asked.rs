//! Functions that read an engine's state between two steps.

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
    /// Returns whether the engine has no requests.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty()
    }

    /// Returns the requests that have a batch slot, in order of arrival.
    #[must_use]
    pub fn running(&self) -> &[Sequence] {
        &self.running
    }

    /// Returns how many requests are waiting.
    #[must_use]
    pub fn num_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the engine's counters.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Removes and returns the log-probabilities of the last step's tokens, for requests that asked
    /// for them. They have the order of the [`Event::Token`](crate::week3::engine::Event::Token)
    /// events.
    pub fn take_chosen(&mut self) -> Vec<(RequestId, Chosen)> {
        std::mem::take(&mut self.chosen)
    }

    /// Removes and returns the ids of the requests whose first rows ran in the last step. Each
    /// comes with the number of the request's positions that were already in the cache.
    pub fn take_found(&mut self) -> Vec<(RequestId, usize)> {
        std::mem::take(&mut self.found)
    }

    /// Returns the [`Pass`] that computes the engine's rows.
    #[must_use]
    pub fn pass(&self) -> &P {
        &self.pass
    }

    /// Returns the total number of positions that requests found in the cache, and so did not
    /// compute.
    #[must_use]
    pub fn attached(&self) -> u64 {
        self.attached
    }

    /// Returns the cache, which holds keys and values.
    #[must_use]
    pub fn cache(&self) -> &C {
        &self.cache
    }

    /// Returns how many tokens were drafted and how many were accepted.
    #[must_use]
    pub fn drafted(&self) -> Drafted {
        self.ahead.as_ref().map(Ahead::counts).unwrap_or_default()
    }
}
