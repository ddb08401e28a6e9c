//! Day 2. Runs a model as a graph, with the rows, cache and plan of week 2.

use std::sync::Arc;

use anyhow::{Result, ensure};

use crate::week2::{
    cache::{CacheShape, CacheType, DenseCache, KvCache},
    model::Model,
    plan::Plan,
    rows::Row,
};
use crate::week4::{
    execute::Executor,
    graph::{Graph, NodeId},
    llama::{PassShape, build},
    placement::Wishes,
    planned::PlannedExecutor,
    planner::MemoryPlan,
    scheduler::{Ready, Scheduler},
    split::Schedule,
    step::{AnyStep, Step},
};

/// A graph, and the order in which its nodes are computed.
#[derive(Debug)]
pub struct Built {
    /// The graph.
    pub graph: Graph,
    /// The order in which nodes are computed.
    pub order: Vec<NodeId>,
    /// The node that computes logits `[V, n]` for the `n` rows that request them.
    pub logits: NodeId,
    shape: PassShape,
}

impl Built {
    /// Builds the graph of `model` for a pass of size `shape`.
    ///
    /// # Errors
    /// The same as for [`build`].
    pub fn new(model: &Model, shape: PassShape) -> Result<Self> {
        let (graph, logits) = build(model, shape)?;
        let order = graph.order(&[logits]);
        Ok(Self { graph, order, logits, shape })
    }
}

/// Runs each forward pass of a model as a graph. While passes have the same size, the engine builds
/// no new graph and allocates nothing.
#[derive(Debug, Default)]
pub struct GraphEngine {
    built: Option<Built>,
    executor: Executor,
    /// The executor and the current graph's memory plan. `None` unless the engine runs in one
    /// arena.
    planned: Option<(PlannedExecutor, Option<MemoryPlan>)>,
    /// The backends and the prepared graph. `None` unless the engine runs on backends (day 4).
    scheduled: Option<Scheduled>,
    graphs: usize,
}

/// The backends, and the graph that runs on them. `logits` holds a copy of the last pass's logits,
/// unless the backend lends them.
#[derive(Debug)]
struct Scheduled {
    scheduler: Scheduler,
    wishes: Wishes,
    ready: Option<Ready>,
    logits: Vec<f32>,
}

impl GraphEngine {
    /// Creates an engine that runs graphs in one arena.
    #[must_use]
    pub fn planned() -> Self {
        Self { planned: Some((PlannedExecutor::default(), None)), ..Self::default() }
    }

    /// Creates an engine that runs graphs on backends.
    #[must_use]
    pub fn on(scheduler: Scheduler, wishes: Wishes) -> Self {
        let scheduled = Scheduled { scheduler, wishes, ready: None, logits: Vec::new() };
        Self { scheduled: Some(scheduled), ..Self::default() }
    }

    /// Returns the scheduler, or `None` for an engine that doesn't run on backends.
    #[must_use]
    pub fn scheduler(&self) -> Option<&Scheduler> {
        self.scheduled.as_ref().map(|scheduled| &scheduled.scheduler)
    }

    /// Computes logits `[n, V]` for the `n` rows that request them, like [`Model::forward`].
    ///
    /// # Errors
    /// If no row requests logits. If the pass has a different size than the last one, also the
    /// errors of [`build`] and [`Step::check`]. If the engine runs on backends, also the errors of
    /// [`Scheduler::prepare`] and [`Scheduler::run`].
    pub fn forward(
        &mut self,
        model: &Model,
        rows: &[Row],
        cache: &mut impl KvCache,
        plan: &Plan,
    ) -> Result<&[f32]> {
        let wanted = rows.iter().filter(|row| row.logits).count();
        let is_new = self.prepare(model, PassShape { rows: rows.len(), wanted })?;
        let rope = (&model.rope, model.rope_layout);
        if is_new {
            let step: AnyStep<'_> = Step { rows, cache: &mut *cache, plan, rope };
            let built = self.built.take().expect("built above");
            step.check(&built.graph, &built.order)?;
            self.built = Some(built);
        }
        if let Some(scheduled) = &mut self.scheduled {
            let mut step: AnyStep<'_> = Step { rows, cache: &mut *cache, plan, rope };
            scheduled.run(&mut step)?;
            return Ok(self.logits_behind(rows, cache));
        }
        let Built { graph, order, .. } = self.built.as_ref().expect("built above");
        let mut step = Step { rows, cache: &mut *cache, plan, rope };
        match &mut self.planned {
            Some((executor, Some(memory))) => executor.run(graph, order, memory, &mut step),
            _ => self.executor.run(graph, order, &mut step),
        }
        Ok(self.logits_behind(rows, cache))
    }

    /// Builds the graph for a pass of size `shape`, and plans its memory or places it on backends.
    /// Does nothing if the last graph has the same size. Returns whether it built a graph.
    fn prepare(&mut self, model: &Model, shape: PassShape) -> Result<bool> {
        if self.built.as_ref().is_some_and(|built| built.shape == shape) {
            return Ok(false);
        }
        self.built = None;
        let built = Built::new(model, shape)?;
        if let Some((_, memory)) = &mut self.planned {
            let Built { graph, order, logits, .. } = &built;
            *memory = Some(MemoryPlan::smaller(graph, order, &[*logits], true)?);
        }
        if let Some(scheduled) = &mut self.scheduled {
            scheduled.prepare(&built)?;
        }
        self.built = Some(built);
        self.graphs += 1;
        Ok(true)
    }

    /// Prepares the graph of a pass of size `shape`, and returns how it is divided among the
    /// backends. Returns `None` if this engine doesn't run on backends.
    ///
    /// # Errors
    /// The same as for [`Scheduler::prepare`].
    pub fn divided(&mut self, model: &Model, shape: PassShape) -> Result<Option<&Ready>> {
        self.prepare(model, shape)?;
        Ok(self.scheduled.as_ref().and_then(|scheduled| scheduled.ready.as_ref()))
    }

    /// Advances the cache past the rows of a finished pass, and returns the pass's logits.
    fn logits_behind(&self, rows: &[Row], cache: &mut impl KvCache) -> &[f32] {
        for row in rows {
            cache.advance(row.sequence, row.position);
        }
        self.logits()
    }

    /// Returns how many graphs have been built.
    #[must_use]
    pub fn graphs(&self) -> usize {
        self.graphs
    }
}

impl Scheduled {
    /// Releases the prepared graph, if any, and prepares `built` in its place.
    fn prepare(&mut self, built: &Built) -> Result<()> {
        if let Some(ready) = self.ready.take() {
            self.scheduler.release(ready);
        }
        let Built { graph, order, logits, .. } = built;
        self.ready = Some(self.scheduler.prepare(graph, order, &[*logits], &self.wishes)?);
        self.logits.clear();
        Ok(())
    }

    fn run(&mut self, step: &mut AnyStep<'_>) -> Result<()> {
        let ready = self.ready.as_ref().expect("prepared for this size");
        self.scheduler.run(ready, step)?;
        if self.scheduler.lent(ready, 0).is_some() {
            return Ok(());
        }
        let Schedule { graph, results, .. } = &ready.schedule;
        self.logits.resize(graph.layout(results[0]).elements(), 0.0);
        self.scheduler.read(ready, 0, &mut self.logits)
    }

    fn logits(&self) -> &[f32] {
        let ready = self.ready.as_ref().expect("a pass came before");
        self.scheduler.lent(ready, 0).unwrap_or(&self.logits)
    }
}

/// Runs a model as a graph on one sequence, like week 2's `Session`.
pub struct GraphSession {
    model: Arc<Model>,
    plan: Arc<Plan>,
    cache: DenseCache,
    tokens: Vec<u32>,
    rows: Vec<Row>,
    engine: GraphEngine,
}

impl GraphSession {
    /// Creates a session for one sequence of at most `context` tokens.
    #[must_use]
    pub fn new(model: Arc<Model>, plan: Arc<Plan>, context: usize, cache_type: CacheType) -> Self {
        let shape = CacheShape::of(&model.config, 1, context);
        let cache = DenseCache::new(shape, cache_type);
        let (tokens, rows, engine) = (Vec::new(), Vec::new(), GraphEngine::default());
        Self { model, plan, cache, tokens, rows, engine }
    }

    /// Makes the session run its graphs in one arena.
    #[must_use]
    pub fn in_an_arena(mut self) -> Self {
        self.engine = GraphEngine::planned();
        self
    }

    /// Makes the session run its graphs on the scheduler's backends.
    #[must_use]
    pub fn on(mut self, scheduler: Scheduler) -> Self {
        self.engine = GraphEngine::on(scheduler, Wishes::default());
        self
    }

    /// Returns the scheduler, or `None` for a session that doesn't run on backends.
    #[must_use]
    pub fn scheduler(&self) -> Option<&Scheduler> {
        self.engine.scheduler()
    }

    /// Works like [`GraphEngine::divided`], for a pass of `rows` rows. Only the last row requests
    /// logits.
    ///
    /// # Errors
    /// The same as for [`GraphEngine::divided`].
    pub fn divided(&mut self, rows: usize) -> Result<Option<&Ready>> {
        self.engine.divided(&self.model, PassShape { rows, wanted: 1 })
    }

    /// Returns the logits `[V]` after the last of `tokens`. Reuses the prefix that `tokens` shares
    /// with the previous call's tokens. Computes the rest in chunks of at most `chunk` rows.
    ///
    /// # Errors
    /// If there are no tokens, or a token or its position is out of range.
    pub fn logits_after(&mut self, tokens: &[u32], chunk: usize) -> Result<&[f32]> {
        ensure!(!tokens.is_empty(), "there are no tokens to start from");
        let same = self.tokens.iter().zip(tokens).take_while(|(a, b)| a == b).count();
        let kept = same.min(tokens.len() - 1);
        self.tokens.truncate(kept);
        self.cache.truncate(0, kept);
        for start in (kept..tokens.len()).step_by(chunk.max(1)) {
            let end = tokens.len().min(start + chunk.max(1));
            let row = |(i, &token)| Row {
                token,
                position: start + i,
                sequence: 0,
                logits: start + i + 1 == end,
            };
            self.rows.clear();
            self.rows.extend(tokens[start..end].iter().enumerate().map(row));
            self.model.check(&self.rows, &self.cache)?;
            self.engine.forward(&self.model, &self.rows, &mut self.cache, &self.plan)?;
            self.tokens.extend_from_slice(&tokens[start..end]);
        }
        Ok(self.engine.logits())
    }
}

impl GraphEngine {
    /// Returns the logits of the last pass.
    ///
    /// # Panics
    /// If there was no pass.
    #[must_use]
    pub fn logits(&self) -> &[f32] {
        if let Some(scheduled) = &self.scheduled {
            return scheduled.logits();
        }
        let Built { graph, logits, .. } = self.built.as_ref().expect("a pass came before");
        match &self.planned {
            Some((executor, Some(memory))) => executor.values(graph, memory, *logits),
            _ => self.executor.values(graph, *logits),
        }
    }
}
