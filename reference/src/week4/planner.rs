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
    // SOLUTION week4-day3 task 3
    let (mut arena, mut parts) = (Arena::default(), vec![None; graph.len()]);
    let mut taken = vec![false; graph.len()];
    let mut overwriting = 0;
    let mut next = lives.iter().peekable();
    for step in 0..order.len() {
        while let Some(life) = next.next_if(|life| life.first == step) {
            let source = overwritten(graph, life, lives).filter(|_| in_place);
            let start = match source {
                Some(source) => {
                    taken[source.index()] = true;
                    overwriting += 1;
                    let part: &Option<Range<usize>> = &parts[source.index()];
                    part.as_ref().expect("a source is placed before").start
                }
                None => arena.allocate(life.bytes),
            };
            parts[life.node.index()] = Some(start..start + life.bytes);
        }
        for life in lives.iter().filter(|life| life.last == step && !taken[life.node.index()]) {
            let part = parts[life.node.index()].clone().expect("placed when it was written");
            arena.release(part.start, part.len());
        }
    }
    MemoryPlan { parts, peak: arena.peak(), in_place: overwriting }
    // END SOLUTION
}

/// Whether the operation may write its result over its first source, of the same size, as it goes:
/// where every number is read before it is written, and never after.
#[must_use]
pub fn can_overwrite(op: &Op) -> bool {
    matches!(op, Op::Add | Op::SiluGate | Op::Rope | Op::RmsNorm { .. })
}

/// The node whose part this buffer's node may take over: the operation allows it, and nobody needs the source's bytes any more, nor reads them in this step in another place.
fn overwritten(graph: &Graph, life: &Lifetime, lives: &[Lifetime]) -> Option<NodeId> {
    // SOLUTION week4-day3 task 3
    let node = graph.node(life.node);
    if !can_overwrite(&node.op) {
        return None;
    }
    let roots: Vec<NodeId> = node.sources.iter().map(|&source| graph.root(source)).collect();
    let source = lives.iter().find(|other| other.node == roots[0])?;
    let alone = roots[1..].iter().all(|&other| other != source.node);
    (alone && source.last == life.first).then_some(source.node)
    // END SOLUTION
}
