//! Day 2. A computation as data: nodes, each with an operation and the nodes that it reads. Nothing
//! is computed while a graph is built.
//!
//! Tasks here: week4-day2 task 1 (`Graph::push`, `Graph::mul_mat`, `Graph::add`, `Graph::reshape`).
//! Everything else is provided.

use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use tiny_llm_formats::gguf::TensorType;

use super::{layout::Layout, op::Op};

/// Identifies a node of a graph. Only a graph creates ids, so every id belongs to a node that
/// already exists. A node can therefore read only older nodes, and no cycle can be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(usize);

impl NodeId {
    /// Returns the node's number. Nodes are numbered from 0, in the order in which they were added.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// A node of a graph: one operation.
#[derive(Debug, Clone)]
pub struct Node {
    /// A prefix, for example `layer 0: `, followed by the name that [`Graph::named`] gave the node.
    /// Either part may be empty.
    pub name: String,
    /// The operation that the node computes.
    pub op: Op,
    /// The nodes that the operation reads, in the order that the operation requires.
    pub sources: Vec<NodeId>,
    /// The layout of the operation's result.
    pub layout: Layout,
}

/// A computation as a list of nodes, in the order in which they were added.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    pub(crate) nodes: Vec<Node>,
    /// The results of [`Graph::longest_block`] for all nodes that existed at its first call.
    pub(crate) blocks: OnceLock<Vec<usize>>,
    /// The prefix for the names of the nodes that are added next.
    pub(crate) prefix: String,
}

impl Graph {
    /// Returns the number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the node with this id.
    ///
    /// # Panics
    /// If the id comes from a larger graph.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// Returns the layout of a node's result.
    ///
    /// # Panics
    /// The same as for [`Graph::node`].
    #[must_use]
    pub fn layout(&self, id: NodeId) -> Layout {
        self.nodes[id.0].layout
    }

    /// Returns the ids of all nodes.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId)
    }

    /// Adds a node and returns its id. The node's name is the current prefix. Does not check
    /// `layout`: the caller must compute it, as [`Graph::mul_mat`] does.
    ///
    /// # Errors
    /// If a source is not a node of this graph (the message has the source's number). Also if
    /// [`Graph::check_sources`], which is provided, returns an error. An error leaves the graph
    /// unchanged.
    pub fn push(&mut self, op: Op, sources: &[NodeId], layout: Layout) -> Result<NodeId> {
        todo!("week4-day2 task 1: Graph::push")
    }

    /// Adds a node that multiplies every row of `a` by every row of `b`, like day 1's `mul_mat`:
    /// `a [K, M, …]`, `b [K, N, …]` → `[M, N, …]`.
    ///
    /// # Errors
    /// If day 1's `mul_mat` would return an error. The message is one line that names both nodes
    /// and their sizes. If a row is not contiguous, the message suggests a contiguous copy.
    pub fn mul_mat(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        todo!("week4-day2 task 1: Graph::mul_mat")
    }

    /// Adds a node that computes `a + b`. `b` is broadcast to the sizes of `a`.
    ///
    /// # Errors
    /// If `b` does not broadcast to `a`, or if `a` or `b` is not contiguous f32. The message is one
    /// line that names both nodes and their sizes.
    pub fn add(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        todo!("week4-day2 task 1: Graph::add")
    }

    /// Adds a view that has the elements of `x`, but the sizes in `sizes`.
    ///
    /// # Errors
    /// The same as for [`Layout::reshape`]. The message also names the node.
    pub fn reshape(&mut self, x: NodeId, sizes: &[usize]) -> Result<NodeId> {
        todo!("week4-day2 task 1: Graph::reshape")
    }
}
