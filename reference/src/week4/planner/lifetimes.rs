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
    // SOLUTION week4-day3 task 1
    let mut last = vec![None; graph.len()];
    for (step, &id) in order.iter().enumerate() {
        for &source in &graph.node(id).sources {
            last[graph.root(source).index()] = Some(step);
        }
    }
    for &result in results {
        last[graph.root(result).index()] = Some(order.len());
    }
    let needs_bytes = |id: NodeId| {
        let op = &graph.node(id).op;
        !op.is_leaf() && !op.is_view()
    };
    let computed = order.iter().enumerate().filter(|&(_, &id)| needs_bytes(id));
    computed
        .map(|(first, &node)| Lifetime {
            node,
            bytes: (4 * graph.layout(node).elements()).next_multiple_of(ALIGNMENT),
            first,
            last: last[node.index()].unwrap_or(first),
        })
        .collect()
    // END SOLUTION
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
    // SOLUTION week4-day3 task 1
    let steps = lifetimes.iter().map(|life| life.last + 1).max().unwrap_or(0);
    let needed = |step: usize| {
        let alive = lifetimes.iter().filter(|life| (life.first..=life.last).contains(&step));
        alive.map(|life| life.bytes).sum()
    };
    (0..steps).map(needed).max().unwrap_or(0)
    // END SOLUTION
}
