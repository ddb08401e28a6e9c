//! Day 3. Makes memory plans and checks them.

use std::ops::Range;

use anyhow::{Context, Result, ensure};

use crate::week4::{
    graph::{Graph, NodeId},
    lifetimes::{ALIGNMENT, Lifetime, lifetimes},
    planner::MemoryPlan,
};

impl MemoryPlan {
    /// Assigns a part of an arena to every buffer that the nodes in `order` need. Two buffers that
    /// are needed in the same step share no byte. There is one exception: if `in_place` is true, a
    /// node overwrites its first source where
    /// [`can_overwrite`](crate::week4::planner::can_overwrite) allows it.
    ///
    /// # Errors
    /// If all buffers together have more bytes than a program can address. Also if two buffers that
    /// are needed in the same step overlap in the plan.
    pub fn new(
        graph: &Graph,
        order: &[NodeId],
        results: &[NodeId],
        in_place: bool,
    ) -> Result<Self> {
        check_size(graph, order)?;
        Self::of_some(graph, order, &lifetimes(graph, order, results), in_place)
    }

    /// Checks that buffers that are needed in the same step don't overlap. The only exception is a
    /// buffer that overwrites another.
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
                    "{} and {} are needed in the same step, but are stored at bytes {b:?} and \
                     {a:?}",
                    graph.told(other.node),
                    graph.told(one.node)
                );
            }
            alive.push((one, a));
        }
        Ok(())
    }
}

/// Checks that all buffers together have no more bytes than a program can address, so that no sum
/// of sizes overflows.
///
/// # Errors
/// One line that names the node at which the limit is exceeded.
pub fn check_size(graph: &Graph, order: &[NodeId]) -> Result<()> {
    let mut left = isize::MAX as usize;
    for &id in order {
        let bytes = graph.layout(id).elements().checked_mul(4);
        let bytes = bytes.and_then(|bytes| bytes.checked_next_multiple_of(ALIGNMENT));
        let rest = bytes.and_then(|bytes| left.checked_sub(bytes));
        left = rest.with_context(|| {
            format!("{}: the buffers have more bytes than a program can address", graph.told(id))
        })?;
    }
    Ok(())
}
