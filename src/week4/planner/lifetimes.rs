//! Day 3. Finds when each node's buffer is needed, and a lower bound on the memory of a plan.
//!
//! Tasks here: week4-day3 task 1 (`lifetimes`, `lower_bound`). Everything else is provided.

use super::graph::{Graph, NodeId};

/// Alignment of all parts of an arena, in bytes: one cache line.
pub const ALIGNMENT: usize = 64;

/// The buffer of one node: its size, and the steps during which it is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetime {
    /// The node whose result is in the buffer. It is neither a leaf nor a view.
    pub node: NodeId,
    /// Size in bytes, a multiple of [`ALIGNMENT`].
    pub bytes: usize,
    /// The step that writes the buffer.
    pub first: usize,
    /// The last step that reads the buffer. Results of the graph are read after all steps: for
    /// them, this is one past the index of the last step. For any other buffer that nothing reads,
    /// this is the step that writes it.
    pub last: usize,
}

/// Returns the buffers that the nodes in `order` need, in the same order. A step is an index into
/// `order`.
///
/// A node that reads a view reads the bytes of the view's root ([`Graph::root`]), no matter how
/// many views are in between. A view also counts as a reader of its root, in the view's own step. A
/// result that is a view keeps its root's buffer alive.
#[must_use]
pub fn lifetimes(graph: &Graph, order: &[NodeId], results: &[NodeId]) -> Vec<Lifetime> {
    todo!("week4-day3 task 1: lifetimes")
}

/// Returns how many bytes are needed if every buffer has its own memory.
#[must_use]
pub fn without_reuse(lifetimes: &[Lifetime]) -> usize {
    lifetimes.iter().map(|life| life.bytes).sum()
}

/// Returns the largest number of bytes that a single step needs. This is a lower bound on the size
/// of every plan without in-place nodes (nodes that write their result over a source).
#[must_use]
pub fn lower_bound(lifetimes: &[Lifetime]) -> usize {
    todo!("week4-day3 task 1: lower_bound")
}
