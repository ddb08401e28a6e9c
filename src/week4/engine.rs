//! Day 2, provided. A model that is run as a graph: the same rows, the same cache and the same plan
//! as week 2's.

use std::sync::Arc;

use anyhow::{Result, ensure};

use super::{
    execute::Executor,
    graph::{Graph, NodeId},
    llama::{PassShape, build},
    planned::PlannedExecutor,
    planner::MemoryPlan,
    step::Step,
};
use crate::week2::{
    cache::{CacheShape, CacheType, DenseCache, KvCache},
    model::Model,
    plan::Plan,
    rows::Row,
};

/// A graph with its order.
#[derive(Debug)]
pub struct Built {
    /// All nodes.
    pub graph: Graph,
    /// In which order they are computed.
    pub order: Vec<NodeId>,
    /// `[V, wanted]`
    pub logits: NodeId,
    shape: PassShape,
}

impl Built {
    /// The graph of a model for a pass of this size.
    ///
    /// # Errors
    /// As [`build`].
    pub fn new(model: &Model, shape: PassShape) -> Result<Self> {
        let (graph, logits) = build(model, shape)?;
        let order = graph.order(&[logits]);
        Ok(Self { graph, order, logits, shape })
    }
}

/// Runs passes. As long as they have one size, no graph is built and nothing is allocated.
#[derive(Debug, Default)]
pub struct GraphEngine {
    built: Option<Built>,
    executor: Executor,
    /// In an arena, and where each node lies there.
    planned: Option<(PlannedExecutor, Option<MemoryPlan>)>,
    graphs: usize,
}

impl GraphEngine {
    /// The same in one arena.
    #[must_use]
    pub fn planned() -> Self {
        Self { planned: Some((PlannedExecutor::default(), None)), ..Self::default() }
    }

    /// As [`Model::forward`]: logits `[n, V]` of the `n` rows that want them.
    ///
    /// # Errors
    /// As [`build`], and if no row wants logits.
    pub fn forward(
        &mut self,
        model: &Model,
        rows: &[Row],
        cache: &mut impl KvCache,
        plan: &Plan,
    ) -> Result<&[f32]> {
        let wanted = rows.iter().filter(|row| row.logits).count();
        let shape = PassShape { rows: rows.len(), wanted };
        if self.built.as_ref().is_none_or(|built| built.shape != shape) {
            let built = Built::new(model, shape)?;
            if let Some((_, memory)) = &mut self.planned {
                let Built { graph, order, logits, .. } = &built;
                *memory = Some(MemoryPlan::new(graph, order, &[*logits], true)?);
            }
            self.built = Some(built);
            self.graphs += 1;
        }
        let Built { graph, order, .. } = self.built.as_ref().expect("built above");
        let rope = (&model.rope, model.rope_layout);
        let mut step = Step { rows, cache: &mut *cache, plan, rope };
        match &mut self.planned {
            Some((executor, Some(memory))) => executor.run(graph, order, memory, &mut step),
            _ => self.executor.run(graph, order, &mut step),
        }
        for row in rows {
            cache.advance(row.sequence, row.position);
        }
        Ok(self.logits())
    }

    /// How many graphs have been built.
    #[must_use]
    pub fn graphs(&self) -> usize {
        self.graphs
    }
}

/// One sequence, as week 2's `Session`.
pub struct GraphSession {
    model: Arc<Model>,
    plan: Arc<Plan>,
    cache: DenseCache,
    tokens: Vec<u32>,
    rows: Vec<Row>,
    engine: GraphEngine,
}

impl GraphSession {
    /// Room for one sequence of `context` tokens.
    #[must_use]
    pub fn new(model: Arc<Model>, plan: Arc<Plan>, context: usize, cache_type: CacheType) -> Self {
        let c = &model.config;
        let shape = CacheShape {
            layers: c.n_layers,
            sequences: 1,
            kv_heads: c.n_kv_heads,
            capacity: context,
            head_dim: c.head_dim,
        };
        let cache = DenseCache::new(shape, cache_type);
        let (tokens, rows, engine) = (Vec::new(), Vec::new(), GraphEngine::default());
        Self { model, plan, cache, tokens, rows, engine }
    }

    /// The same in one arena.
    #[must_use]
    pub fn in_an_arena(mut self) -> Self {
        self.engine = GraphEngine::planned();
        self
    }

    /// The logits `[V]` after the last of these tokens. What they have in common with the last
    /// call's is not computed again; the rest goes through in chunks of at most `chunk` rows.
    ///
    /// # Errors
    /// If there are none, or one or its position is out of range.
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
    /// What the last pass returned.
    ///
    /// # Panics
    /// If there was none.
    #[must_use]
    pub fn logits(&self) -> &[f32] {
        let Built { graph, logits, .. } = self.built.as_ref().expect("a pass came before");
        match &self.planned {
            Some((executor, Some(memory))) => executor.values(graph, memory, *logits),
            _ => self.executor.values(graph, *logits),
        }
    }
}
