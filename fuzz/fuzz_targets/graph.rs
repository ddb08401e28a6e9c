//! Any bytes: a graph, node by node, and which of its nodes are results.
//!
//! A node is built or refused in one line, and what is built has no cycle; a view does not lead
//! outside of its source. Planned by best fit or by size, in place or not, a graph comes to what
//! it comes to with a buffer for each node, in no more bytes than those have and no fewer than its
//! lower bound.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../reference/tests/parts/any_graph.rs"]
mod any_graph;

fuzz_target!(|data: &[u8]| {
    any_graph::any_graph(data);
});
