//! Day 2. Writes a graph in Graphviz's language, DOT.
//!
//! Tasks here: week4-day2 task 5 (`dot`). Everything else is provided.

use super::graph::{Graph, NodeId};

/// Returns the nodes in `order` as a DOT graph. Each node has a line `nI [label="…"]`, where `I` is
/// the node's number. The label has the node's operation, its name and its layout (type and sizes).
/// Each source `nI` of a node `nJ` has a line `nI -> nJ`, in the order of the sources. A
/// leaf's label is followed by `, color=red`.
#[must_use]
pub fn dot(graph: &Graph, order: &[NodeId]) -> String {
    todo!("week4-day2 task 5: dot")
}
