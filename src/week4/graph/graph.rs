//! Day 2. A computation as data: nodes, each with an operation and the nodes that it reads. Nothing
//! is computed while a graph is built.
//!
//! Tasks here: week4-day2 task 1 (`Graph::push`, `Graph::mul_mat`, `Graph::add`, `Graph::reshape`).
//! Everything else is provided.

use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use tiny_llm_formats::gguf::TensorType;

use super::{
    layout::{AXES, Layout},
    op::Op,
};
use crate::week2::matrix::Matrix;

/// A node of a graph. Only the graph makes them, so a node that has an id is there already: a node
/// can only read nodes that are older than itself, and no cycle can be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(usize);

impl NodeId {
    /// Its number, from 0 on, in the order in which nodes were made.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// What one node is.
#[derive(Debug, Clone)]
pub struct Node {
    /// The prefix that was set when the node was made, `layer 0: `, and the name that
    /// [`Graph::named`] gave it, if any. May be empty.
    pub name: String,
    /// What it computes, if it computes anything.
    pub op: Op,
    /// What it reads, in the order that the operation wants.
    pub sources: Vec<NodeId>,
    /// What comes out of it.
    pub layout: Layout,
}

/// Nodes, in the order in which they were made.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    /// [`Graph::longest_block`] of each node that there was when it was first called.
    pub(super) blocks: OnceLock<Vec<usize>>,
    /// What nodes are called until another name is given.
    prefix: String,
}

impl Graph {
    /// How many nodes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// One of them.
    ///
    /// # Panics
    /// If the id comes from a larger graph.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// What comes out of a node.
    ///
    /// # Panics
    /// As [`Graph::node`].
    #[must_use]
    pub fn layout(&self, id: NodeId) -> Layout {
        self.nodes[id.0].layout
    }

    /// All nodes.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId)
    }

    /// The names of nodes that follow begin with this.
    pub fn prefix(&mut self, prefix: &str) {
        prefix.clone_into(&mut self.prefix);
    }

    /// Gives a node a name, after the prefix.
    pub fn named(&mut self, id: NodeId, name: &str) -> NodeId {
        self.nodes[id.0].name = format!("{}{name}", self.prefix);
        id
    }

    /// The node whose bytes these are: that of a view is where its source's are.
    #[must_use]
    pub fn root(&self, id: NodeId) -> NodeId {
        let mut root = id;
        loop {
            let Node { op, sources, .. } = self.node(root);
            match sources.first() {
                Some(&source) if op.is_view() => root = source,
                _ => return root,
            }
        }
    }

    /// A new node, named by the prefix alone. What comes out of it is taken on trust: the functions
    /// below know the layout.
    ///
    /// # Errors
    /// If a source is not a node of this graph, and then the message has its number; and as
    /// [`Graph::check_sources`], which is provided. The graph is then as it was.
    pub fn push(&mut self, op: Op, sources: &[NodeId], layout: Layout) -> Result<NodeId> {
        todo!("week4-day2 task 1: Graph::push")
    }

    /// A matrix of the model, a leaf: `[cols, rows]`.
    ///
    /// # Errors
    /// As [`Layout::new`].
    pub fn weight(&mut self, matrix: &Matrix) -> Result<NodeId> {
        let layout = Layout::new(matrix.tensor_type, &[matrix.cols, matrix.rows])?;
        self.push(Op::Weight(matrix.clone()), &[], layout)
    }

    /// Numbers, a leaf.
    ///
    /// # Errors
    /// If there are not as many as the sizes say; and as [`Layout::new`].
    pub fn values(&mut self, sizes: &[usize], values: &[f32]) -> Result<NodeId> {
        let layout = Layout::new(TensorType::F32, sizes)?;
        ensure!(
            layout.elements() == values.len(),
            "values of {layout}: found {} numbers, expected {}",
            values.len(),
            layout.elements()
        );
        self.push(Op::Values(values.to_vec()), &[], layout)
    }

    /// Every row of `a` times every row of `b`, as day 1's `mul_mat`: `[K, M, …]`, `[K, N, …]` →
    /// `[M, N, …]`.
    ///
    /// # Errors
    /// Where day 1's `mul_mat` would return one. One line that names both nodes and their sizes,
    /// and asks for a contiguous copy where a row does not lie in one piece.
    pub fn mul_mat(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        todo!("week4-day2 task 1: Graph::mul_mat")
    }

    /// `a + b`, where `b` broadcasts to the sizes of `a`.
    ///
    /// # Errors
    /// If `b` does not broadcast, or one of them is not f32 or not contiguous. One line that names
    /// both nodes and their sizes.
    pub fn add(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        todo!("week4-day2 task 1: Graph::add")
    }

    /// The same elements with other sizes; a view.
    ///
    /// # Errors
    /// As [`Layout::reshape`]. The message names the node too.
    pub fn reshape(&mut self, x: NodeId, sizes: &[usize]) -> Result<NodeId> {
        todo!("week4-day2 task 1: Graph::reshape")
    }

    /// Axis `i` becomes axis `axes[i]`; a view.
    ///
    /// # Errors
    /// As [`Layout::permute`].
    pub fn permute(&mut self, x: NodeId, axes: [usize; AXES]) -> Result<NodeId> {
        let what = || format!("permute of {}", self.told(x));
        let layout = self.layout(x).permute(axes).with_context(what)?;
        self.push(Op::Permute, &[x], layout)
    }

    /// A copy in which the elements follow one another.
    ///
    /// # Errors
    /// If the node is not f32.
    pub fn contiguous(&mut self, x: NodeId) -> Result<NodeId> {
        let from = self.layout(x);
        ensure!(
            from.tensor_type == TensorType::F32,
            "contiguous of {}: expected f32",
            self.told(x)
        );
        let layout = Layout::new(TensorType::F32, &from.ne)?;
        self.push(Op::Contiguous, &[x], layout)
    }

    /// Describes a node in an error: its number, label, type and sizes.
    #[must_use]
    pub fn told(&self, id: NodeId) -> String {
        format!("node {} ({}, {})", id.0, self.label(id), self.node(id).layout)
    }

    /// Returns a node's name; without one from [`Graph::named`], the prefix and the operation.
    #[must_use]
    pub fn label(&self, id: NodeId) -> String {
        let Node { name, op, .. } = self.node(id);
        let is_named = !name.is_empty() && !name.ends_with(' ');
        if is_named { name.clone() } else { format!("{name}{}", op.name()) }
    }
}

impl Layout {
    /// Whether it is f32, one number after the other.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.tensor_type == TensorType::F32 && self.is_contiguous()
    }
}
