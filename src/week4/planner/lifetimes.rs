//! Day 3. When a node's bytes are needed, and what that means for memory.
//!
//! Tasks here: week4-day3 task 1 (`lifetimes`, `lower_bound`). Everything else is provided.

use super::graph::{Graph, NodeId};

/// Bytes that an arena hands out at once: a cache line.
pub const ALIGNMENT: usize = 64;

/// The buffer of one node: how large it is, and in which steps of the order it is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetime {
    /// The node it belongs to: neither a leaf nor a view.
    pub node: NodeId,
    /// A multiple of [`ALIGNMENT`].
    pub bytes: usize,
    /// The step that writes it.
    pub first: usize,
    /// The last step that reads it; for a result the order's length, one after the last step; if
    /// nothing reads it, the step that writes it.
    pub last: usize,
}

/// Returns the buffers that an order needs, in the order of their nodes. Steps are indices into the
/// order.
///
/// A node that reads a view reads the bytes of the view's root, no matter how many views are in
/// between.
#[must_use]
pub fn lifetimes(graph: &Graph, order: &[NodeId], results: &[NodeId]) -> Vec<Lifetime> {
    todo!("week4-day3 task 1: lifetimes")
}

/// Bytes if every buffer has its own memory.
#[must_use]
pub fn without_reuse(lifetimes: &[Lifetime]) -> usize {
    lifetimes.iter().map(|life| life.bytes).sum()
}

/// Returns the bytes that no plan can do without: the maximum needed at once, in any step.
#[must_use]
pub fn lower_bound(lifetimes: &[Lifetime]) -> usize {
    todo!("week4-day3 task 1: lower_bound")
}
