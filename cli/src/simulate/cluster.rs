//! A simulation of several replicas of an engine.

use std::{
    collections::{HashMap, VecDeque},
    str::FromStr,
};

use anyhow::Result;

use super::{cost::StepCost, histogram::Histogram, load::Arrival};
use crate::{CacheBytes, Simulated};
use tiny_llm_formats::request::Event;

/// How a request is routed to a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Routing {
    /// To each replica in turn.
    RoundRobin,
    /// To the replica with the fewest open requests.
    LeastLoaded,
    /// To the replica that a hash of the prompt's prefix selects, so that equal prefixes go to the
    /// same replica. If it is much busier than the least busy replica, to the least busy replica.
    Prefix,
}

impl Routing {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::LeastLoaded => "least-loaded",
            Self::Prefix => "prefix",
        }
    }
}

impl FromStr for Routing {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        [Self::RoundRobin, Self::LeastLoaded, Self::Prefix]
            .into_iter()
            .find(|routing| routing.name() == name)
            .ok_or_else(|| format!("found {name:?}, expected round-robin, least-loaded or prefix"))
    }
}

/// Number of leading tokens that identify a prompt's prefix.
const BEGINNING: usize = 64;

/// Results of a simulation.
#[derive(Debug, Clone, Default)]
pub(super) struct Outcome {
    /// Seconds from the start of the run to the end of the last step.
    pub seconds: f64,
    pub prompt_tokens: u64,
    pub new_tokens: u64,
    pub steps: u64,
    pub rows: u64,
    pub preempted: u64,
    /// Number of prompt positions whose keys and values were found in a cache.
    pub attached: u64,
    /// Maximum number of pages of one replica that were not free after a step.
    pub most_pages: usize,
    /// Time to first token of each request.
    pub first_token: Histogram,
    /// Inter-token latency of all requests.
    pub gap: Histogram,
    /// The longest inter-token latency of each request.
    pub longest_gap: Histogram,
    /// Results that only a run of the real model has.
    pub real: Option<Real>,
}

/// Measurements that a simulation cannot make.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Real {
    /// Bytes of the cache after the step at which the requests had the most positions in total.
    pub cache: CacheBytes,
    /// Reserved but unused bytes of the cache per running request, after the step where this number
    /// was largest.
    pub beyond: u64,
    /// How many proposed tokens were accepted, and how many there were. `None` without drafts.
    pub drafts: Option<(u64, u64)>,
}

struct Replica {
    engine: Box<dyn Simulated>,
    /// Time at which the replica's next step can begin. If the replica is idle, the time at which
    /// its last step ended.
    free_at: f64,
    open: HashMap<u64, Open>,
    /// Requests not yet submitted to the engine. Requests wait here because the engine scans all
    /// its requests in each step. A server would also limit its queue.
    queue: VecDeque<Arrival>,
}

/// Maps a token to one of the simulated engine's two tokens. Equal prefixes stay equal.
fn one_of_two(token: u32) -> u32 {
    if token < 2 { token } else { (token.wrapping_mul(0x9e37_79b9) >> 31) & 1 }
}

/// A request that has not finished.
pub(super) struct Open {
    arrived: f64,
    last_token: Option<f64>,
    longest_gap: f64,
}

impl Open {
    pub(super) fn new(arrived: f64) -> Self {
        Self { arrived, last_token: None, longest_gap: 0.0 }
    }

    /// Records that the request's next token was generated at the time `now`.
    pub(super) fn token(&mut self, now: f64, outcome: &mut Outcome) {
        outcome.new_tokens += 1;
        match self.last_token.replace(now) {
            None => outcome.first_token.add(now - self.arrived),
            Some(last) => {
                outcome.gap.add(now - last);
                self.longest_gap = self.longest_gap.max(now - last);
            }
        }
    }

    pub(super) fn finished(self, outcome: &mut Outcome) {
        if self.longest_gap > 0.0 {
            outcome.longest_gap.add(self.longest_gap);
        }
    }
}

impl Replica {
    fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.engine.is_idle()
    }

    /// Returns the number of unfinished requests.
    fn num_open(&self) -> usize {
        self.open.len() + self.queue.len()
    }

    /// Submits queued requests in order, until the engine has `most` or the queue is empty.
    fn fill(&mut self, most: usize) -> Result<()> {
        while self.open.len() < most {
            let Some(Arrival { time, prompt, max_new_tokens }) = self.queue.pop_front() else {
                break;
            };
            let prompt = prompt.into_iter().map(one_of_two).collect();
            let id = self.engine.submit(prompt, max_new_tokens)?;
            self.open.insert(id, Open::new(time));
        }
        Ok(())
    }
}

/// Replicas and the current time.
pub(super) struct Cluster {
    replicas: Vec<Replica>,
    routing: Routing,
    turn: usize,
    cost: StepCost,
    /// Maximum number of requests in a replica's engine, running ones included.
    handed: usize,
    outcome: Outcome,
    events: Vec<Event>,
}

impl Cluster {
    pub(super) fn new(
        engines: Vec<Box<dyn Simulated>>,
        max_batch: usize,
        routing: Routing,
        cost: StepCost,
    ) -> Self {
        let replica =
            |engine| Replica { engine, free_at: 0.0, open: HashMap::new(), queue: VecDeque::new() };
        Self {
            replicas: engines.into_iter().map(replica).collect(),
            routing,
            turn: 0,
            cost,
            handed: 2 * max_batch,
            outcome: Outcome::default(),
            events: Vec::new(),
        }
    }

    /// Serves all requests in `arrivals`. Calls `on_request` after routing each to a replica.
    pub(super) fn serve(
        mut self,
        arrivals: impl Iterator<Item = Arrival>,
        mut on_request: impl FnMut(),
    ) -> Result<Outcome> {
        let mut arrivals = arrivals.peekable();
        loop {
            let step = self.next_step();
            let arrives = arrivals.peek().map(|arrival| arrival.time);
            match (arrives, step) {
                (Some(time), Some((_, start))) if time > start => self.step(step)?,
                (Some(_), _) => {
                    let arrival = arrivals.next().expect("it was looked at");
                    self.submit(arrival);
                    on_request();
                }
                (None, Some(_)) => self.step(step)?,
                (None, None) => break,
            }
        }
        for replica in &self.replicas {
            let pages = replica.engine.pages();
            self.outcome.preempted += pages.preempted;
            self.outcome.attached += pages.found.map_or(0, |(found, _)| found);
            self.outcome.most_pages = self.outcome.most_pages.max(pages.most_used);
            self.outcome.seconds = self.outcome.seconds.max(replica.free_at);
        }
        Ok(self.outcome)
    }

    /// Returns the index of the replica whose next step begins first, and the time of that step.
    /// Returns `None` if all replicas are idle.
    fn next_step(&self) -> Option<(usize, f64)> {
        let busy = self.replicas.iter().enumerate().filter(|(_, r)| !r.is_idle());
        busy.map(|(i, r)| (i, r.free_at)).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn submit(&mut self, arrival: Arrival) {
        let to = self.route(&arrival.prompt);
        let replica = &mut self.replicas[to];
        if replica.is_idle() {
            replica.free_at = replica.free_at.max(arrival.time);
        }
        self.outcome.prompt_tokens += arrival.prompt.len() as u64;
        replica.queue.push_back(arrival);
    }

    fn route(&mut self, prompt: &[u32]) -> usize {
        let n = self.replicas.len();
        let open = |i: usize| self.replicas[i].num_open();
        let least = (0..n).min_by_key(|&i| open(i)).expect("at least one replica");
        match self.routing {
            Routing::RoundRobin => {
                self.turn = (self.turn + 1) % n;
                self.turn
            }
            Routing::LeastLoaded => least,
            Routing::Prefix => {
                let beginning = prompt.iter().take(BEGINNING);
                let key = beginning.fold(1u64, |key, token| key << 1 ^ u64::from(*token));
                let home = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % n;
                // Reusing a prefix doesn't pay off if the request would wait for more than twice as
                // many requests (plus 8) as at the least busy replica.
                if open(home) > 2 * open(least) + 8 { least } else { home }
            }
        }
    }

    fn step(&mut self, step: Option<(usize, f64)>) -> Result<()> {
        let (i, start) = step.expect("a step that begins");
        let replica = &mut self.replicas[i];
        replica.fill(self.handed)?;
        self.events.clear();
        let work = replica.engine.step(&mut |event| self.events.push(event));
        let end = start + self.cost.of(work);
        replica.free_at = end;
        self.outcome.steps += 1;
        self.outcome.rows += work.rows;
        for event in self.events.drain(..) {
            match event {
                Event::Token { id, .. } => {
                    let Some(open) = replica.open.get_mut(&id) else { continue };
                    open.token(end, &mut self.outcome);
                }
                Event::Finished { id, .. } => {
                    if let Some(open) = replica.open.remove(&id) {
                        open.finished(&mut self.outcome);
                    }
                }
            }
        }
        Ok(())
    }
}
