//! Day 2. Finds the order in which nodes are computed, and leaves out nodes that aren't needed.
//!
//! Tasks here: week4-day2 task 2 (`Graph::order`, `Graph::leaves`). Everything else is provided.

use super::graph::{Graph, NodeId};

impl Graph {
    /// Returns the nodes that are needed to compute `results`, including `results`. Each node
    /// appears once, after its sources. Nodes that no result needs are left out.
    ///
    /// # Panics
    /// If a result is a node of a larger graph.
    #[must_use]
    pub fn order(&self, results: &[NodeId]) -> Vec<NodeId> {
        todo!("week4-day2 task 2: Graph::order")
    }

    /// Returns those nodes in `order` that have no sources: weights and inputs.
    #[must_use]
    pub fn leaves(&self, order: &[NodeId]) -> Vec<NodeId> {
        todo!("week4-day2 task 2: Graph::leaves")
    }
}
