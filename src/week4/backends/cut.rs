//! Day 4. Places the unpinned nodes, with as few copies between backends as possible.
//!
//! Tasks here: week4-day4 task 3 (`fewest_copies`). Everything else is provided.

use super::{
    flow::Network,
    graph::{Graph, NodeId},
};

/// Decides which of two backends computes each node in `order`. Pinned nodes stay where they are.
/// All others are placed so that there are as few copies as possible. Of several placements with
/// equally few copies, the one with the most nodes on the first backend is chosen. Returns the
/// backend of each node of the graph, or `None` for leaves and views.
///
/// One copy of a node's result serves all nodes on the other backend that read the result or a view
/// of it. Leaves are not copied: each backend that reads a leaf stores it once.
#[must_use]
pub fn fewest_copies(
    graph: &Graph,
    order: &[NodeId],
    pinned: &[Option<usize>],
) -> Vec<Option<usize>> {
    todo!("week4-day4 task 3: fewest_copies")
}
