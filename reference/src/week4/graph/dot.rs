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
    // SOLUTION week4-day2 task 5
    let mut text = String::from("digraph {\n  node [shape=box];\n");
    for &id in order {
        let node = graph.node(id);
        let color = if node.op.is_leaf() { ", color=red" } else { "" };
        let name = escaped(&node.name);
        let (i, op, layout) = (id.index(), node.op.name(), node.layout);
        text += &format!("  n{i} [label=\"{op}\\n{name}\\n{layout}\"{color}];\n");
    }
    for &id in order {
        for source in &graph.node(id).sources {
            text += &format!("  n{} -> n{};\n", source.index(), id.index());
        }
    }
    text + "}\n"
    // END SOLUTION
}

// SOLUTION week4-day2 task 5 (helper)
/// Escapes `text` for use in a quoted string.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
// END SOLUTION
