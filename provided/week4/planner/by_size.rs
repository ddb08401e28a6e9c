//! Day 3. Plans an arena by size, the largest buffer first. All lifetimes must be known before the
//! first buffer is placed.

use std::cmp::Reverse;

use anyhow::Result;

use crate::week4::{
    checked::check_size,
    graph::{Graph, NodeId},
    lifetimes::{Lifetime, lifetimes},
    planner::{MemoryPlan, Tenants, tenants},
};

impl MemoryPlan {
    /// Places the buffers in order of size, the largest first. Each goes into the shortest gap that
    /// is free throughout the buffer's lifetime.
    ///
    /// # Errors
    /// The same as for [`MemoryPlan::new`].
    pub fn by_size(graph: &Graph, lives: &[Lifetime], in_place: bool) -> Result<Self> {
        let all = tenants(graph, lives, in_place);
        let length = |one: &Tenants| one.last - one.first;
        let longest = all.iter().map(length).max().unwrap_or(0);
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&i| (Reverse(all[i].bytes), Reverse(length(&all[i]))));
        let (mut starts, mut taken) = (vec![None; all.len()], Vec::new());
        let mut plan =
            Self { parts: vec![None; graph.len()], peak: 0, in_place: lives.len() - all.len() };
        for i in order {
            let one = &all[i];
            // `from..to` includes every buffer that is needed in the same step as this one.
            let from = all.partition_point(|other| other.first + longest < one.first);
            let to = all.partition_point(|other| other.first <= one.last);
            let others = (from..to).filter(|&other| all[other].last >= one.first);
            taken.clear();
            taken.extend(others.filter_map(|other| Some((starts[other]?, all[other].bytes))));
            taken.sort_unstable();
            let start = shortest_gap(&taken, one.bytes);
            starts[i] = Some(start);
            plan.peak = plan.peak.max(start + one.bytes);
            for &(node, bytes) in &one.nodes {
                plan.parts[node.index()] = Some(start..start + bytes);
            }
        }
        plan.check(graph, lives)?;
        Ok(plan)
    }

    /// Plans the arena twice: step by step with best fit ([`MemoryPlan::new`]), and by size
    /// ([`MemoryPlan::by_size`]). Returns the plan with the smaller arena.
    ///
    /// # Errors
    /// The same as for [`MemoryPlan::new`].
    pub fn smaller(
        graph: &Graph,
        order: &[NodeId],
        results: &[NodeId],
        in_place: bool,
    ) -> Result<Self> {
        check_size(graph, order)?;
        Self::smaller_of_some(graph, order, &lifetimes(graph, order, results), in_place)
    }

    /// Like [`MemoryPlan::smaller`], but plans only the buffers in `lives`, as
    /// [`MemoryPlan::of_some`] does.
    ///
    /// # Errors
    /// The same as for [`MemoryPlan::new`].
    pub fn smaller_of_some(
        graph: &Graph,
        order: &[NodeId],
        lives: &[Lifetime],
        in_place: bool,
    ) -> Result<Self> {
        let step_by_step = Self::of_some(graph, order, lives, in_place)?;
        let by_size = Self::by_size(graph, lives, in_place)?;
        Ok(if by_size.peak < step_by_step.peak { by_size } else { step_by_step })
    }
}

/// Returns the start of the shortest gap that has room for `bytes` bytes. `taken` lists the start
/// and length of each occupied part of the arena, from front to back. Of equally short gaps, the
/// first is used. If no gap is long enough, returns the end of the last part.
fn shortest_gap(taken: &[(usize, usize)], bytes: usize) -> usize {
    let (mut end, mut best) = (0, None);
    for &(start, length) in taken {
        let gap = start.saturating_sub(end);
        if gap >= bytes && best.is_none_or(|(shortest, _)| gap < shortest) {
            best = Some((gap, end));
        }
        end = end.max(start + length);
    }
    best.map_or(end, |(_, start)| start)
}

/// Returns the lifetime of each part of the arena. A buffer and the results that overwrite it share
/// one part. The `lower_bound` of these lifetimes holds for every plan that overwrites wherever
/// possible.
#[must_use]
pub fn lifetimes_of_parts(graph: &Graph, lives: &[Lifetime]) -> Vec<Lifetime> {
    let parts = tenants(graph, lives, true).into_iter();
    parts
        .map(|Tenants { nodes, bytes, first, last }| Lifetime {
            node: nodes[0].0,
            bytes,
            first,
            last,
        })
        .collect()
}
