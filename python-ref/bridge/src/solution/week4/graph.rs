//! Day 2: graphs of numbers, computed, and drawn.

use super::{
    super::{
        rust::week2::{
            cache::{CacheShape, CacheType, DenseCache},
            rope::{RopeLayout, RopeTable},
            rows::Row,
        },
        week2::model::plan,
    },
    backends,
    layout::Layout,
    rust::{dot, execute, graph as rust, lifetimes, planned, planner, step},
};
use crate::prelude::*;

exports! { class Graph; }

/// Nodes, each a number. Nothing is computed before somebody asks.
#[pyclass]
pub(crate) struct Graph {
    graph: Kept<rust::Graph>,
    nodes: usize,
}

#[pymethods]
impl Graph {
    #[new]
    fn new() -> Self {
        Self { graph: Kept::new(rust::Graph::default()), nodes: 0 }
    }

    /// A leaf with these numbers; axes in PyTorch's order.
    fn values(&mut self, x: Floats) -> PyResult<usize> {
        let sizes: Vec<usize> = x.0.shape().iter().rev().copied().collect();
        let numbers = x.to_vec();
        self.made(move |graph| graph.values(&sizes, &numbers))
    }

    /// Every row of `a` times every row of `b`.
    fn mul_mat(&mut self, a: Count, b: Count) -> PyResult<usize> {
        let [a, b] = self.ids([a, b])?;
        self.made(move |graph| {
            let [a, b] = [a, b].map(|i| node(graph, i));
            graph.mul_mat(a, b)
        })
    }

    /// `a + b`, where `b` broadcasts.
    fn add(&mut self, a: Count, b: Count) -> PyResult<usize> {
        let [a, b] = self.ids([a, b])?;
        self.made(move |graph| {
            let [a, b] = [a, b].map(|i| node(graph, i));
            graph.add(a, b)
        })
    }

    /// Other sizes of the same elements.
    fn reshape(&mut self, x: Count, sizes: Vec<Count>) -> PyResult<usize> {
        let [x] = self.ids([x])?;
        let sizes: Vec<usize> = sizes.iter().map(|n| n.0).collect();
        self.made(move |graph| {
            let x = node(graph, x);
            graph.reshape(x, &sizes)
        })
    }

    /// A contiguous copy of `x` with its axes 0 and 1 exchanged.
    fn transposed(&mut self, x: Count) -> PyResult<usize> {
        let [x] = self.ids([x])?;
        self.made(move |graph| {
            let x = node(graph, x);
            let turned = graph.permute(x, [1, 0, 2, 3])?;
            graph.contiguous(turned)
        })
    }

    /// The layout of a node.
    fn layout(&self, x: Count) -> PyResult<Layout> {
        let [x] = self.ids([x])?;
        self.graph.call(move |graph| Layout(graph.layout(node(graph, x))))
    }

    /// The nodes that a result needs, each behind what it reads.
    fn order(&self, result: Count) -> PyResult<Vec<usize>> {
        let [result] = self.ids([result])?;
        self.graph.call(move |graph| {
            let result = node(graph, result);
            graph.order(&[result]).iter().map(|id| id.index()).collect()
        })
    }

    /// What a node comes to, in PyTorch's order of axes.
    fn compute(&self, result: Count) -> PyResult<Floats> {
        let [result] = self.ids([result])?;
        let sizes = self
            .graph
            .call(|graph| graph.ids().map(|id| graph.layout(id).elements()).collect::<Vec<_>>())?;
        room("the nodes", &[sizes.iter().fold(0usize, |n, size| n.saturating_add(*size))])?;
        self.graph.call(move |graph| {
            let result = node(graph, result);
            let order = graph.order(&[result]);
            let mut executor = execute::Executor::default();
            pass(|step| executor.run(graph, &order, step));
            let shape: Vec<usize> = graph.layout(result).ne.iter().rev().copied().collect();
            Floats(tensor(&shape, executor.values(graph, result).to_vec()))
        })
    }

    /// Node, bytes, first and last step of every buffer, in the order of the nodes.
    fn lifetimes(&self, result: Count) -> PyResult<Vec<[usize; 4]>> {
        let [result] = self.ids([result])?;
        self.graph.call(move |graph| {
            let order = graph.order(&[node(graph, result)]);
            let lives = lifetimes::lifetimes(graph, &order, &[node(graph, result)]);
            lives
                .iter()
                .map(|life| [life.node.index(), life.bytes, life.first, life.last])
                .collect()
        })
    }

    /// What a node comes to in one planned arena, how long that is, and how many bytes no plan without
    /// in-place nodes can do without.
    fn planned(&self, result: Count, in_place: bool) -> PyResult<(Floats, usize, usize)> {
        let [result] = self.ids([result])?;
        let sizes = self
            .graph
            .call(|graph| graph.ids().map(|id| graph.layout(id).elements()).collect::<Vec<_>>())?;
        room("the nodes", &[sizes.iter().fold(0usize, |n, size| n.saturating_add(*size))])?;
        let found = self.graph.call(move |graph| {
            let result = node(graph, result);
            let order = graph.order(&[result]);
            let op = &graph.node(graph.root(result)).op;
            anyhow::ensure!(!op.is_leaf(), "node: found a leaf, expected one that is computed");
            let memory = planner::MemoryPlan::new(graph, &order, &[result], in_place)?;
            let mut executor = planned::PlannedExecutor::default();
            pass(|step| executor.run(graph, &order, &memory, step));
            let shape: Vec<usize> = graph.layout(result).ne.iter().rev().copied().collect();
            let bound = lifetimes::lower_bound(&lifetimes::lifetimes(graph, &order, &[result]));
            let values = executor.values(graph, &memory, result).to_vec();
            anyhow::Ok((Floats(tensor(&shape, values)), memory.peak, bound))
        })?;
        found.map_err(value_error)
    }

    /// Which backend has to compute each node, where they lack these operations.
    fn pinned(&self, result: Count, lacks: Vec<Vec<String>>) -> PyResult<backends::Backends> {
        let [result] = self.ids([result])?;
        at_least_one("backends", lacks.len())?;
        let pinned =
            self.graph.call(move |graph| backends::pinned(graph, node(graph, result), &lacks))?;
        pinned.map_err(value_error)
    }

    /// Which of two backends computes each node, if some are pinned and as little as possible is to
    /// be copied.
    fn fewest_copies(
        &self,
        result: Count,
        pinned: backends::Backends,
    ) -> PyResult<backends::Backends> {
        let [result] = self.ids([result])?;
        backends::checked(&pinned, self.graph.call(|graph| graph.len())?, 2)?;
        self.graph.call(move |graph| backends::fewest_copies(graph, node(graph, result), &pinned))
    }

    /// What a node comes to if backends compute what is placed with them, and backend, copies and
    /// nodes of each split.
    fn on_twins(
        &self,
        result: Count,
        placed: backends::Backends,
    ) -> PyResult<(Floats, backends::Splits)> {
        let [result] = self.ids([result])?;
        backends::checked(&placed, self.graph.call(|graph| graph.len())?, 4)?;
        let found = self.graph.call(move |graph| {
            backends::on_twins(graph, node(graph, result), &placed, |run| pass_on_any(run))
        })?;
        found.map_err(value_error)
    }

    /// What a result needs, as Graphviz reads it.
    fn dot(&self, result: Count) -> PyResult<String> {
        let [result] = self.ids([result])?;
        self.graph.call(move |graph| {
            let result = node(graph, result);
            dot::dot(graph, &graph.order(&[result]))
        })
    }
}

/// A pass of one row on an empty cache.
fn pass(run: impl FnOnce(&mut step::Step<'_, DenseCache>)) {
    let shape = CacheShape { layers: 1, sequences: 1, kv_heads: 1, capacity: 1, head_dim: 2 };
    let mut cache = DenseCache::new(shape, CacheType::F32);
    let rows = [Row { token: 0, position: 0, sequence: 0, logits: true }];
    let (table, plan) = (RopeTable::new(&[1.0], 1), plan());
    let rope = (&table, RopeLayout::HalfSplit);
    run(&mut step::Step { rows: &rows, cache: &mut cache, plan: &plan, rope });
}

/// The same for whoever does not know the cache.
fn pass_on_any(run: &mut dyn FnMut(&mut step::AnyStep<'_>)) {
    pass(|step| {
        let step::Step { rows, plan, rope, .. } = *step;
        run(&mut step::Step { rows, cache: &mut *step.cache, plan, rope });
    });
}

/// The node of a number that has been looked at.
fn node(graph: &rust::Graph, i: usize) -> rust::NodeId {
    graph.ids().nth(i).expect("a node of this number")
}

impl Graph {
    fn ids<const N: usize>(&self, given: [Count; N]) -> PyResult<[usize; N]> {
        if let Some(Count(id)) = given.iter().find(|id| id.0 >= self.nodes) {
            return Err(wrong("node", id, format_args!("one below {}", self.nodes)));
        }
        Ok(given.map(|id| id.0))
    }

    fn made(
        &mut self,
        make: impl FnOnce(&mut rust::Graph) -> anyhow::Result<rust::NodeId> + Send + 'static,
    ) -> PyResult<usize> {
        let id = self.graph.call(move |graph| make(graph).map(rust::NodeId::index))?;
        let id = id.map_err(value_error)?;
        self.nodes = self.nodes.max(id + 1);
        Ok(id)
    }
}
