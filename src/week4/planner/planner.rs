//! Day 3. Where each node's bytes lie in one arena, so that what is no longer needed makes room.
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
    /// How many nodes write over their first source.
    pub in_place: usize,
}

/// Walks through the order: a node's part is lent before those that it reads for the last time are
/// given back, since it is written while they are read.
pub(crate) fn place(
    graph: &Graph,
    order: &[NodeId],
    lives: &[Lifetime],
    in_place: bool,
) -> MemoryPlan {
    todo!("week4-day3 task 3: place")
}

/// Whether the operation may write its result over its first source, of the same size, as it goes:
/// where every number is read before it is written, and never after.
#[must_use]
pub fn can_overwrite(op: &Op) -> bool {
    matches!(op, Op::Add | Op::SiluGate | Op::Rope | Op::RmsNorm { .. })
}

/// The node whose part this buffer's node may take over, if there is one: the operation may
/// overwrite ([`can_overwrite`]), the root of its first source is a buffer whose last step is this
/// one, and no other source of the node has the same root.
pub(crate) fn overwritten(graph: &Graph, life: &Lifetime, lives: &[Lifetime]) -> Option<NodeId> {
    todo!("week4-day3 task 3: overwritten")
}
