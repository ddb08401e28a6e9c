//! Day 4. Cuts a graph into splits, each of which runs on one backend. If another backend reads a
//! result, the result is copied.
//!
//! Tasks here: week4-day4 task 4 (`Schedule::new`, `Made::here`). Everything else is provided.

use std::collections::HashMap;

use anyhow::Result;

use super::{
    graph::{Graph, NodeId},
    layout::Layout,
    op::Op,
};

/// Consecutive nodes of a graph that one backend computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The backend that computes the nodes.
    pub backend: usize,
    /// [`Op::Copy`] nodes: results of other backends, which are copied into this backend's memory
    /// before the split is computed. They are in the order in which the split reads them.
    pub copies: Vec<NodeId>,
    /// The nodes, in the order in which they are computed. Leaves and views are not listed.
    pub nodes: Vec<NodeId>,
}

/// A graph, cut into splits, in which every node reads only its own backend's memory.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// The new graph: the original graph with copy nodes added.
    pub graph: Graph,
    /// The splits, in the order in which they run.
    pub splits: Vec<Split>,
    /// The results of the original graph, as nodes of the new graph. Results are not copied. A
    /// result that is a view stays in the memory of the backend that owns the viewed bytes. A
    /// result that is a view of a leaf belongs to backend 0.
    pub results: Vec<NodeId>,
    /// `[nodes of the new graph]`, the backend whose memory holds each node's bytes. `None` only
    /// for leaves, because every backend that reads a leaf has its own copy. A view of a leaf
    /// belongs to the backend that reads it, or to backend 0 if the view is a result.
    pub owners: Vec<Option<usize>>,
}

impl Schedule {
    /// Cuts `order` into splits. A new split begins wherever the backend changes. `placed` holds
    /// the backend of every node that is computed. Leaves and views belong to no split. `results`
    /// are the graph's results. [`Schedule::results`] are the corresponding nodes of the new graph.
    ///
    /// If a node reads another backend's result, that result is copied once to the node's backend,
    /// before that backend's first split that reads the result. All later splits and all views on
    /// that backend use this copy. If the node reads a view, the view's root is copied, because the
    /// root owns the bytes.
    ///
    /// # Errors
    /// Never for a valid graph.
    pub fn new(
        graph: &Graph,
        order: &[NodeId],
        placed: &[Option<usize>],
        results: &[NodeId],
    ) -> Result<Self> {
        todo!("week4-day4 task 4: Schedule::new")
    }
}

/// The new graph of a [`Schedule`], with copies, while it is being built.
struct Made<'a> {
    from: &'a Graph,
    placed: &'a [Option<usize>],
    graph: Graph,
    owners: Vec<Option<usize>>,
    /// Maps a node of the original graph and a backend to a node of the new graph: the one that has
    /// the same bytes in that backend's memory. For a leaf, the backend is `None`, because the leaf
    /// may be in any backend's memory.
    known: HashMap<(NodeId, Option<usize>), NodeId>,
}

impl<'a> Made<'a> {
    fn new(from: &'a Graph, placed: &'a [Option<usize>]) -> Self {
        let (graph, owners, known) = (Graph::default(), Vec::new(), HashMap::new());
        Self { from, placed, graph, owners, known }
    }

    /// Adds a node to the new graph, and records it in `owners` and `known`. It is either the node
    /// `old` of the original graph, or a copy of `old`. A copy's `owner` is the backend that reads
    /// it.
    fn push(
        &mut self,
        old: NodeId,
        op: Op,
        sources: &[NodeId],
        owner: impl Into<Option<usize>>,
    ) -> Result<NodeId> {
        let (owner, layout): (_, Layout) = (owner.into(), self.from.layout(old));
        let id = self.graph.push(op, sources, layout)?;
        self.graph.named(id, &self.from.node(old).name);
        self.owners.push(owner);
        self.known.insert((old, owner), id);
        Ok(id)
    }

    /// Returns the node of the new graph that `backend` must read instead of `old`, a node of the
    /// original graph. If that requires a new copy, adds the copy to `copies`.
    fn here(&mut self, old: NodeId, backend: usize, copies: &mut Vec<NodeId>) -> Result<NodeId> {
        todo!("week4-day4 task 4: Made::here")
    }
}
