//! Day 3. Where each node's bytes are in one arena, so that the bytes of buffers that are no longer
//! needed are reused.
//!
//! Tasks here: week4-day3 task 3 (`place`, `overwritten`). Everything else is provided.

use std::ops::Range;

use super::{
    arena::Arena,
    graph::{Graph, NodeId},
    lifetimes::Lifetime,
    op::Op,
};

/// A place in the arena for every buffer of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryPlan {
    /// `[nodes]`, the bytes of each buffer's part; leaves, views and nodes outside of the order have
    /// none.
    pub parts: Vec<Option<Range<usize>>>,
    /// How long the arena has to be.
    pub peak: usize,
    /// How many nodes overwrite their first source.
    pub in_place: usize,
}

/// Walks through the order. Lends a node's part before it takes back the parts that the node reads
/// for the last time, because the node is written while they are read.
pub(crate) fn place(
    graph: &Graph,
    order: &[NodeId],
    lives: &[Lifetime],
    in_place: bool,
) -> MemoryPlan {
    todo!("week4-day3 task 3: place")
}

/// Returns whether the operation may write its result over its first source, of the same size,
/// while it runs: that is, whether every number is read before it is written, and never afterwards.
#[must_use]
pub fn can_overwrite(op: &Op) -> bool {
    matches!(op, Op::Add | Op::SiluGate | Op::Rope | Op::RmsNorm { .. })
}

/// Returns the node whose part this buffer's node may take over, if there is one: the operation may
/// overwrite ([`can_overwrite`]), the root of its first source is a buffer whose last step is this
/// one, and no other source of the node has the same root.
pub(crate) fn overwritten(graph: &Graph, life: &Lifetime, lives: &[Lifetime]) -> Option<NodeId> {
    todo!("week4-day3 task 3: overwritten")
}
