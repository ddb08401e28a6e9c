//! Day 3. Plans that put the bytes of all nodes in one arena. When a buffer is no longer needed,
//! its bytes are used again.
//!
//! Tasks here: week4-day3 task 3 (`place`, `overwritten`). Everything else is provided.

use std::ops::Range;

use anyhow::Result;

use super::{
    arena::Arena,
    graph::{Graph, NodeId},
    lifetimes::Lifetime,
    op::Op,
};

/// A plan for an arena: the part of the arena that each buffer uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryPlan {
    /// For each node, the range of its bytes in the arena. `None` for leaves, views and nodes
    /// outside the order.
    pub parts: Vec<Option<Range<usize>>>,
    /// Length of the arena in bytes.
    pub peak: usize,
    /// Number of nodes that overwrite their first source.
    pub in_place: usize,
}

impl MemoryPlan {
    /// Creates a plan for only the buffers in `lives`, such as those of one backend (day 4).
    ///
    /// # Errors
    /// The same as for [`MemoryPlan::new`].
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
}

/// Buffers that use the same part of the arena in turn: each overwrites the previous one.
#[derive(Debug)]
pub(crate) struct Tenants {
    /// The nodes in order, each with the size of its buffer in bytes.
    pub(crate) nodes: Vec<(NodeId, usize)>,
    /// Size of the largest buffer in bytes.
    pub(crate) bytes: usize,
    /// The step that writes the first buffer.
    pub(crate) first: usize,
    /// The last step that reads the last buffer.
    pub(crate) last: usize,
}

/// Groups the buffers that share a part of the arena. Without `in_place`, each group has one
/// buffer.
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

/// Places the buffers in `lives`, step by step. `lives` is in the order of the steps, and may leave
/// out buffers. Each step first allocates a part for its node, if the node has a buffer in `lives`.
/// It then frees the parts that are not needed after this step. In this order, the new part can't
/// overlap parts that this step reads. If `in_place` is true and [`overwritten`] returns a node,
/// the step's node takes over that node's part instead of allocating one.
fn place(graph: &Graph, order: &[NodeId], lives: &[Lifetime], in_place: bool) -> MemoryPlan {
    // SOLUTION week4-day3 task 3
    let (mut arena, mut parts) = (Arena::default(), vec![None; graph.len()]);
    let mut taken = vec![false; graph.len()];
    let mut overwriting = 0;
    let mut next = lives.iter().peekable();
    let mut ends: Vec<&Lifetime> = lives.iter().collect();
    ends.sort_by_key(|life| life.last);
    let mut ends = ends.into_iter().peekable();
    for step in 0..order.len() {
        while let Some(life) = next.next_if(|life| life.first == step) {
            let before = &lives[..lives.len() - next.len()];
            let source = overwritten(graph, life, before).filter(|_| in_place);
            let start = match source {
                Some(source) => {
                    taken[source.index()] = true;
                    overwriting += 1;
                    let part: &Option<Range<usize>> = &parts[source.index()];
                    part.as_ref().expect("a source is placed before its reader").start
                }
                None => arena.allocate(life.bytes),
            };
            parts[life.node.index()] = Some(start..start + life.bytes);
        }
        while let Some(life) = ends.next_if(|life| life.last == step) {
            if !taken[life.node.index()] {
                let part = parts[life.node.index()].clone().expect("placed when it was written");
                arena.release(part.start, part.len());
            }
        }
    }
    MemoryPlan { parts, peak: arena.peak(), in_place: overwriting }
    // END SOLUTION
}

/// Returns whether an operation may write its result over its first source. It may if it never
/// reads an element that it has already overwritten. The result of such an operation always has as
/// many bytes as the first source.
#[must_use]
pub fn can_overwrite(op: &Op) -> bool {
    matches!(op, Op::Add | Op::SiluGate | Op::Rope | Op::RmsNorm { .. })
}

/// Finds the buffer that the result of `life.node` may overwrite. Returns that buffer's node, which
/// is the root of the first source of `life.node`. `lives` includes all planned buffers of earlier
/// nodes. Returns `None` unless all of these hold:
///
/// - [`can_overwrite`] is true for the operation of `life.node`.
/// - The root has a buffer in `lives`, and the last step that reads it computes `life.node`.
/// - No other source of `life.node` has the same root.
fn overwritten(graph: &Graph, life: &Lifetime, lives: &[Lifetime]) -> Option<NodeId> {
    // SOLUTION week4-day3 task 3
    let node = graph.node(life.node);
    if !can_overwrite(&node.op) {
        return None;
    }
    let roots: Vec<NodeId> = node.sources.iter().map(|&source| graph.root(source)).collect();
    let source = lives.iter().rfind(|other| other.node == roots[0])?;
    let alone = roots[1..].iter().all(|&other| other != source.node);
    (alone && source.last == life.first).then_some(source.node)
    // END SOLUTION
}
