//! When what happened to a request.

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

    /// Notes who has got a place.
    pub(crate) fn record_admissions(&mut self) {
        let now = self.now();
        for record in self.running.iter_mut().filter_map(|sequence| sequence.record.as_mut()) {
            record.admitted.get_or_insert(now);
        }
    }

    /// Notes who is over, before they are let go.
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

    /// The records of the requests that were over since the last call.
    pub fn take_records(&mut self) -> Vec<(RequestId, Record)> {
        self.records.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
