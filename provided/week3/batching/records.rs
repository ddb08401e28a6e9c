//! Records the times of each request's events.

use crate::week3::{
    engine::Engine,
    pass::Pass,
    request::RequestId,
    room::EngineCache,
    timeline::{Moment, Record},
};

impl<C: EngineCache, P: Pass<C>> Engine<C, P> {
    pub(crate) fn now(&self) -> Moment {
        Moment { steps: self.counts.steps, rows: self.counts.rows }
    }

    /// Records the current [`Moment`] as the admission of each running request that has none yet.
    pub(crate) fn record_admissions(&mut self) {
        let now = self.now();
        for record in self.running.iter_mut().filter_map(|sequence| sequence.record.as_mut()) {
            record.admitted.get_or_insert(now);
        }
    }

    /// Completes the records of the requests that have ended. Call this before they are removed.
    pub(crate) fn record_ends(&mut self) {
        let now = self.now();
        let Some(records) = &mut self.records else { return };
        for sequence in self.running.iter_mut().chain(&mut self.waiting) {
            if sequence.finished().is_some()
                && let Some(record) = sequence.record.take()
            {
                records.push((sequence.id, Record { finished: Some(now), ..record }));
            }
        }
    }

    /// Removes and returns the records of the requests that ended since the last call.
    pub fn take_records(&mut self) -> Vec<(RequestId, Record)> {
        self.records.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
