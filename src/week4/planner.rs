//! Day 3. Where each node's bytes lie in one arena, so that what is no longer needed makes room.

use std::ops::Range;

use anyhow::{Result, ensure};

use super::{
    arena::Arena,
    graph::{Graph, NodeId},
    lifetimes::{Lifetime, lifetimes},
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

impl MemoryPlan {
    /// Gives every buffer of the order a part of an arena. Two buffers that are needed in the same
    /// step have no byte in common; but with `in_place`, a node takes over the part of its first
    /// source where [`can_overwrite`] says that it may.
    ///
    /// # Errors
    /// Never for a sound graph; a plan in which two live buffers overlap is refused.
    pub fn new(
        graph: &Graph,
        order: &[NodeId],
        results: &[NodeId],
        in_place: bool,
    ) -> Result<Self> {
        let lives = lifetimes(graph, order, results);
        let plan = place(graph, order, &lives, in_place);
        plan.check(graph, &lives)?;
        Ok(plan)
    }

    /// That no two buffers that are needed in the same step overlap, but where one takes over the
    /// other's part.
    fn check(&self, graph: &Graph, lives: &[Lifetime]) -> Result<()> {
        let part = |life: &Lifetime| self.parts[life.node.index()].clone().unwrap_or(0..0);
        for (i, one) in lives.iter().enumerate() {
            for other in &lives[i + 1..] {
                let (a, b) = (part(one), part(other));
                let together = one.first <= other.last && other.first <= one.last;
                let heir = one.last == other.first && a.start == b.start;
                ensure!(
                    !together || heir || a.end <= b.start || b.end <= a.start,
                    "{} and {} are needed in the same step, but lie at bytes {a:?} and {b:?}",
                    graph.told(one.node),
                    graph.told(other.node)
                );
            }
        }
        Ok(())
    }
}

/// Walks through the order: a node's part is lent before those that it reads for the last time are
/// given back, since it is written while they are read.
fn place(graph: &Graph, order: &[NodeId], lives: &[Lifetime], in_place: bool) -> MemoryPlan {
    todo!("week4-day3 task 3: place")
}

/// Whether the operation may write its result over its first source, of the same size, as it goes:
/// where every number is read before it is written, and never after.
#[must_use]
pub fn can_overwrite(op: &Op) -> bool {
    matches!(op, Op::Add | Op::SiluGate | Op::Rope | Op::RmsNorm { .. })
}

/// The node whose part this buffer's node may take over: the operation allows it, and nobody needs the source's bytes any more, nor reads them in this step in another place.
fn overwritten(graph: &Graph, life: &Lifetime, lives: &[Lifetime]) -> Option<NodeId> {
    todo!("week4-day3 task 3: overwritten")
}
