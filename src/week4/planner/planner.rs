//! Day 3. Where each node's bytes are in one arena, so that the bytes of buffers that are no longer
//! needed are reused.
//!
//! Tasks here: week4-day3 task 3 (`place`, `overwritten`). Everything else is provided.

use std::ops::Range;

use anyhow::{Context, Result, ensure};

use super::{
    arena::Arena,
    graph::{Graph, NodeId},
    lifetimes::{ALIGNMENT, Lifetime, lifetimes},
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

impl MemoryPlan {
    /// Gives every buffer of the order a part of an arena. Two buffers that are needed in the same
    /// step have no byte in common; but with `in_place`, a node takes over the part of its first
    /// source if [`can_overwrite`] allows it.
    ///
    /// # Errors
    /// If all buffers together have more bytes than a program can have; a plan in which two live
    /// buffers overlap is refused.
    pub fn new(
        graph: &Graph,
        order: &[NodeId],
        results: &[NodeId],
        in_place: bool,
    ) -> Result<Self> {
        check_size(graph, order)?;
        Self::of_some(graph, order, &lifetimes(graph, order, results), in_place)
    }

    /// The same for some of an order's buffers: those that are in the memory of one backend (day
    /// 4).
    ///
    /// # Errors
    /// As [`MemoryPlan::new`].
    pub fn of_some(
        graph: &Graph,
        order: &[NodeId],
        lives: &[Lifetime],
        in_place: bool,
    ) -> Result<Self> {
        let plan = place(graph, order, lives, in_place);
        plan.check(graph, lives)?;
        Ok(plan)
    }

    /// That no two buffers that are needed in the same step overlap, but where one takes over the
    /// other's part.
    pub(crate) fn check(&self, graph: &Graph, lives: &[Lifetime]) -> Result<()> {
        let part = |life: &Lifetime| self.parts[life.node.index()].clone().unwrap_or(0..0);
        let mut alive: Vec<(&Lifetime, Range<usize>)> = Vec::new();
        for one in lives {
            alive.retain(|(other, _)| one.first <= other.last);
            let a = part(one);
            for (other, b) in &alive {
                let heir = other.last == one.first && a.start == b.start;
                ensure!(
                    heir || a.end <= b.start || b.end <= a.start,
                    "{} and {} are needed in the same step, but lie at bytes {b:?} and {a:?}",
                    graph.told(other.node),
                    graph.told(one.node)
                );
            }
            alive.push((one, a));
        }
        Ok(())
    }
}

/// That all buffers together have no more bytes than a program can have, so that no sum of them is
/// too large for its type.
///
/// # Errors
/// One line that names the node with which they do.
pub fn check_size(graph: &Graph, order: &[NodeId]) -> Result<()> {
    let mut left = isize::MAX as usize;
    for &id in order {
        let bytes = graph.layout(id).elements().checked_mul(4);
        let bytes = bytes.and_then(|bytes| bytes.checked_next_multiple_of(ALIGNMENT));
        let rest = bytes.and_then(|bytes| left.checked_sub(bytes));
        left = rest.with_context(|| {
            format!("{}: the buffers have more bytes than a program can have", graph.told(id))
        })?;
    }
    Ok(())
}

/// Buffers that have one part of the arena in turn: each is written over the one before.
#[derive(Debug)]
pub(crate) struct Tenants {
    /// In order, each with its bytes.
    pub(crate) nodes: Vec<(NodeId, usize)>,
    /// Of the largest.
    pub(crate) bytes: usize,
    /// The step that writes the first of them.
    pub(crate) first: usize,
    /// The last step that reads the last of them.
    pub(crate) last: usize,
}

/// Which buffers share a part; without `in_place`, none do.
pub(crate) fn tenants(graph: &Graph, lives: &[Lifetime], in_place: bool) -> Vec<Tenants> {
    let mut all: Vec<Tenants> = Vec::with_capacity(lives.len());
    let mut part_of = vec![None; graph.len()];
    for (i, life) in lives.iter().enumerate() {
        let &Lifetime { node, bytes, first, last } = life;
        let source = overwritten(graph, life, &lives[..i]).filter(|_| in_place);
        let at = source.and_then(|source| part_of[source.index()]).unwrap_or(all.len());
        part_of[node.index()] = Some(at);
        match all.get_mut(at) {
            Some(part) => {
                part.nodes.push((node, bytes));
                (part.bytes, part.last) = (part.bytes.max(bytes), last);
            }
            None => all.push(Tenants { nodes: vec![(node, bytes)], bytes, first, last }),
        }
    }
    all
}

/// Walks through the order. Lends a node's part before it takes back the parts that the node reads
/// for the last time, because the node is written while they are read.
fn place(graph: &Graph, order: &[NodeId], lives: &[Lifetime], in_place: bool) -> MemoryPlan {
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
fn overwritten(graph: &Graph, life: &Lifetime, lives: &[Lifetime]) -> Option<NodeId> {
    todo!("week4-day3 task 3: overwritten")
}
