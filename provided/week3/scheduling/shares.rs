//! Divides a step's rows among the requests.

use std::time::Instant;

use crate::week3::{
    engine::Engine,
    options::{BUSY, FEWEST},
    pass::Pass,
    request::Phase,
    room::EngineCache,
    scheduler::{Load, Scheduler},
    step_times::TimeLimit,
};

impl<C: EngineCache, P: Pass<C>> Engine<C, P> {
    /// Attaches a cached prefix, if there is one, to every request that gets its first rows in this
    /// step. This is not done earlier, because a request ahead in the queue may still be computing
    /// the same prefix. Skips the requests before index `tried`, which have already been checked.
    /// Returns whether a prefix was found for any request.
    fn attach(&mut self, tried: &mut usize) -> bool {
        let mut any = false;
        let shares = self.running.iter_mut().zip(&self.shares).enumerate();
        for (i, (sequence, &rows)) in shares.skip(*tried) {
            if rows == 0 || sequence.num_computed > 0 {
                continue;
            }
            *tried = i + 1;
            let slot = sequence.slot.expect("a running request has a slot");
            let found = self.cache.attach_prefix(slot, &sequence.tokens);
            sequence.num_computed = found;
            self.attached += found as u64;
            self.found.push((sequence.id, found));
            any |= found > 0;
        }
        any
    }

    /// Computes how many rows each running request gets in this step. That is its share of the
    /// budget, or all its remaining rows if the step's rows are not limited.
    pub(crate) fn share(&mut self) {
        let mut tried = 0;
        loop {
            self.share_what_is_left();
            // A request with a cached prefix needs fewer rows, so share the rows again.
            if !self.attach(&mut tried) {
                break;
            }
        }
        if self.scheduler.is_some() || self.gap.is_some() {
            for (sequence, &rows) in self.running.iter_mut().zip(&self.shares) {
                sequence.waited = if rows == 0 { sequence.waited + 1 } else { 0 };
            }
        }
    }

    fn share_what_is_left(&mut self) {
        self.loads.clear();
        self.loads.extend(self.running.iter().map(|sequence| Load {
            left: sequence.num_left(),
            decoding: sequence.phase == Phase::Decoding,
            waited: sequence.waited,
        }));
        match self.scheduler_now() {
            Some(scheduler) => scheduler.shares(&self.loads, &mut self.shares),
            None => {
                self.shares.clear();
                self.shares.extend(self.loads.iter().map(|load| load.left));
            }
        }
    }

    /// Returns the scheduler for this step, or `None` if the step's rows are not limited. If `gap`
    /// is set and a request decodes, the budget is at most [`Engine::rows_beside`].
    fn scheduler_now(&self) -> Option<Scheduler> {
        let decoding = self.loads.iter().filter(|load| load.decoding).count();
        let most = match self.gap {
            Some(gap) if decoding > 0 => self.rows_beside(gap, decoding),
            _ => return self.scheduler,
        };
        let budget = self.scheduler.map_or(most, |scheduler| scheduler.budget.min(most));
        Some(Scheduler::new(budget))
    }

    /// Returns the maximum number of rows in a step in which `decoding` requests decode. `gap` is
    /// the engine's option `gap`.
    fn rows_beside(&self, gap: usize, decoding: usize) -> usize {
        let slots = self.cache.shape().sequences.max(decoding);
        let within = self.step_times.rows_within(
            TimeLimit { factor: gap as f64, rows: decoding },
            TimeLimit { factor: BUSY as f64, rows: slots },
        );
        // At worst, a step's time is proportional to its rows, so this many rows are always
        // allowed.
        let sure = gap.saturating_mul(decoding).min(BUSY.saturating_mul(slots));
        sure.max(FEWEST).max(within.unwrap_or(0))
    }

    /// Computes the step's rows. If `gap` is set, also records the step's time.
    pub(crate) fn run(&mut self) {
        let start = self.gap.map(|_| Instant::now());
        self.pass.run(&self.rows, &mut self.cache);
        if let Some(start) = start {
            let seconds = self.pass.seconds().unwrap_or_else(|| start.elapsed().as_secs_f64());
            self.step_times.observe(self.rows.len(), seconds);
        }
    }

    /// Proposes drafts for the rows that are left in the budget.
    pub(crate) fn propose(&mut self) {
        let Some(ahead) = &mut self.ahead else { return };
        let taken: usize = self.shares.iter().sum();
        let budget = self.scheduler.as_ref().map_or(usize::MAX, |scheduler| scheduler.budget);
        ahead.propose(&self.running, &self.shares, budget.saturating_sub(taken));
    }

    /// Returns how many drafts the running request `i` has.
    pub(crate) fn num_drafts(&self, i: usize) -> usize {
        self.ahead.as_ref().map_or(0, |ahead| ahead.drafts(i).len())
    }
}
