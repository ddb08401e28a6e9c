//! Day 2. A graph in the language of Graphviz.
//!
//! Tasks here: week4-day2 task 5 (`dot`). Everything else is provided.

use super::graph::{Graph, NodeId};

/// Writes the nodes of an order in Graphviz's language. Each node has a line `nI [label="…"]`, with
/// its operation, its name and its sizes. Each source `nI` of a node `nJ` has a line `nI -> nJ`, in
/// order. Leaves are red.
#[must_use]
pub fn dot(graph: &Graph, order: &[NodeId]) -> String {
    todo!("week4-day2 task 5: dot")
}
