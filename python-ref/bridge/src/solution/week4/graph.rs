//! Days 2 to 4: graphs, which are drawn, computed, planned, and placed on backends.

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

/// A graph of numbered nodes. Nothing is computed until a result is requested.
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

    /// Adds a leaf with the values `x`, whose axes are in PyTorch's order.
    fn values(&mut self, x: Floats) -> PyResult<usize> {
        let sizes: Vec<usize> = x.0.shape().iter().rev().copied().collect();
        let numbers = x.to_vec();
        self.made([], move |graph, []| graph.values(&sizes, &numbers))
    }

    /// Adds a node that multiplies every row of `a` by every row of `b`.
    fn mul_mat(&mut self, a: Count, b: Count) -> PyResult<usize> {
        self.made([a, b], |graph, [a, b]| graph.mul_mat(a, b))
    }

    /// Adds a node that computes `a + b`, where `b` broadcasts.
    fn add(&mut self, a: Count, b: Count) -> PyResult<usize> {
        self.made([a, b], |graph, [a, b]| graph.add(a, b))
    }

    /// Adds a view of the same elements with other sizes.
    fn reshape(&mut self, x: Count, sizes: Vec<Count>) -> PyResult<usize> {
        let sizes: Vec<usize> = sizes.iter().map(|n| n.0).collect();
        self.made([x], move |graph, [x]| graph.reshape(x, &sizes))
    }

    /// Adds a contiguous copy of `x` with its axes 0 and 1 exchanged.
    fn transposed(&mut self, x: Count) -> PyResult<usize> {
        self.made([x], |graph, [x]| {
            let turned = graph.permute(x, [1, 0, 2, 3])?;
            graph.contiguous(turned)
        })
    }

    /// Returns the layout of a node.
    fn layout(&self, x: Count) -> PyResult<Layout> {
        self.on(x, |graph, x| Ok(Layout(graph.layout(x))))
    }

    /// Returns the nodes that a result needs, each after its sources.
    fn order(&self, result: Count) -> PyResult<Vec<usize>> {
        self.on(result, |graph, result| {
            Ok(graph.order(&[result]).iter().map(|id| id.index()).collect())
        })
    }

    /// Computes a node. The axes of the result are in PyTorch's order.
    fn compute(&self, result: Count) -> PyResult<Floats> {
        self.has_room()?;
        self.on(result, |graph, result| {
            let order = graph.order(&[result]);
            let mut executor = execute::Executor::default();
            pass(|step| executor.run(graph, &order, step));
            let shape: Vec<usize> = graph.layout(result).ne.iter().rev().copied().collect();
            Ok(Floats(tensor(&shape, executor.values(graph, result).to_vec())))
        })
    }

    /// Returns for each buffer the node, bytes, first step and last step. Follows the order of the
    /// nodes.
    fn lifetimes(&self, result: Count) -> PyResult<Vec<[usize; 4]>> {
        self.on(result, |graph, result| {
            let lives = lifetimes::lifetimes(graph, &graph.order(&[result]), &[result]);
            let of =
                |life: &lifetimes::Lifetime| [life.node.index(), life.bytes, life.first, life.last];
            Ok(lives.iter().map(of).collect())
        })
    }

    /// Computes a node in one planned arena. Returns its value, the bytes of the arena, and a lower
    /// bound on the bytes of any plan without in-place nodes.
    fn planned(&self, result: Count, in_place: bool) -> PyResult<(Floats, usize, usize)> {
        self.has_room()?;
        self.on(result, move |graph, result| {
            let order = graph.order(&[result]);
            let op = &graph.node(graph.root(result)).op;
            anyhow::ensure!(!op.is_leaf(), "node: found a leaf, expected one that is computed");
            let memory = planner::MemoryPlan::new(graph, &order, &[result], in_place)?;
            let mut executor = planned::PlannedExecutor::default();
            pass(|step| executor.run(graph, &order, &memory, step));
            let shape: Vec<usize> = graph.layout(result).ne.iter().rev().copied().collect();
            let bound = lifetimes::lower_bound(&lifetimes::lifetimes(graph, &order, &[result]));
            let values = executor.values(graph, &memory, result).to_vec();
            Ok((Floats(tensor(&shape, values)), memory.peak, bound))
        })
    }

    /// Returns the backend of each pinned node, where backend `b` lacks the operations `lacks[b]`.
    fn pinned(&self, result: Count, lacks: Vec<Vec<String>>) -> PyResult<backends::Backends> {
        at_least_one("backends", lacks.len())?;
        self.on(result, move |graph, result| backends::pinned(graph, result, &lacks))
    }

    /// Returns the placement on two backends with the fewest copies. Pinned nodes stay on their
    /// backend.
    fn fewest_copies(
        &self,
        result: Count,
        pinned: backends::Backends,
    ) -> PyResult<backends::Backends> {
        backends::checked(&pinned, self.graph.call(|graph| graph.len())?, 2)?;
        self.on(result, move |graph, result| Ok(backends::fewest_copies(graph, result, &pinned)))
    }

    /// Computes `result` with the placement `placed`. Returns its value, and for each split the
    /// backend, number of copies and number of nodes.
    fn on_twins(
        &self,
        result: Count,
        placed: backends::Backends,
    ) -> PyResult<(Floats, backends::Splits)> {
        backends::checked(&placed, self.graph.call(|graph| graph.len())?, 4)?;
        self.on(result, move |graph, result| {
            backends::on_twins(graph, result, &placed, |run| pass_on_any(run))
        })
    }

    /// Returns the nodes that a result needs, as a DOT graph for Graphviz.
    fn dot(&self, result: Count) -> PyResult<String> {
        self.on(result, |graph, result| Ok(dot::dot(graph, &graph.order(&[result]))))
    }
}

/// Calls `run` with a pass of one row on an empty cache.
fn pass(run: impl FnOnce(&mut step::Step<'_, DenseCache>)) {
    let shape = CacheShape { layers: 1, sequences: 1, kv_heads: 1, capacity: 1, head_dim: 2 };
    let mut cache = DenseCache::new(shape, CacheType::F32);
    let rows = [Row { token: 0, position: 0, sequence: 0, logits: true }];
    let (table, plan) = (RopeTable::new(&[1.0], 1), plan());
    let rope = (&table, RopeLayout::HalfSplit);
    run(&mut step::Step { rows: &rows, cache: &mut cache, plan: &plan, rope });
}

/// Works like [`pass`], for code that does not know the type of the cache.
fn pass_on_any(run: &mut dyn FnMut(&mut step::AnyStep<'_>)) {
    pass(|step| {
        let step::Step { rows, plan, rope, .. } = *step;
        run(&mut step::Step { rows, cache: &mut *step.cache, plan, rope });
    });
}

/// Returns the node with index `i`, which must exist.
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

    /// Runs `work`, which calls a solution, on the node `id`.
    fn on<R: Send + 'static>(
        &self,
        id: Count,
        work: impl FnOnce(&mut rust::Graph, rust::NodeId) -> anyhow::Result<R> + Send + 'static,
    ) -> PyResult<R> {
        let [id] = self.ids([id])?;
        self.graph.attempt(move |graph| work(graph, node(graph, id)))
    }

    /// Adds the node that `make` creates from the nodes `ids`, and returns its index.
    fn made<const N: usize>(
        &mut self,
        ids: [Count; N],
        make: impl FnOnce(&mut rust::Graph, [rust::NodeId; N]) -> anyhow::Result<rust::NodeId>
        + Send
        + 'static,
    ) -> PyResult<usize> {
        let ids = self.ids(ids)?;
        let id = self.graph.attempt(move |graph| {
            let ids = ids.map(|id| node(graph, id));
            make(graph, ids).map(rust::NodeId::index)
        })?;
        self.nodes = self.nodes.max(id + 1);
        Ok(id)
    }

    fn has_room(&self) -> PyResult<()> {
        let sizes = |graph: &mut rust::Graph| -> Vec<usize> {
            graph.ids().map(|id| graph.layout(id).elements()).collect()
        };
        let sizes = self.graph.call(sizes)?;
        room("the nodes", &[sizes.iter().fold(0usize, |n, size| n.saturating_add(*size))])
    }
}
