//! Builds a graph from arbitrary bytes, node by node, and chooses the nodes that are its results.
//!
//! A node is built or rejected with an error of one line. A graph has no cycles, and no view
//! reaches outside its source. Planned by best fit or by size, in place or not, a graph gives the
//! results that it gives with one buffer per node. A plan takes at most the bytes of those buffers,
//! and at least the lower bound.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../reference/tests/parts/any_graph.rs"]
mod any_graph;

fuzz_target!(|data: &[u8]| {
    any_graph::any_graph(data);
});
