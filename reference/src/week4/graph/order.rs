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
        // SOLUTION week4-day2 task 2
        let mut seen = vec![false; self.len()];
        let mut order = Vec::new();
        // A node, and the number of its sources that have been visited.
        let mut path: Vec<(NodeId, usize)> = Vec::new();
        for &result in results {
            path.push((result, 0));
            while let Some((id, next)) = path.pop() {
                if next == 0 && std::mem::replace(&mut seen[id.index()], true) {
                    continue;
                }
                match self.node(id).sources.get(next) {
                    Some(&source) => path.extend([(id, next + 1), (source, 0)]),
                    None => order.push(id),
                }
            }
        }
        order
        // END SOLUTION
    }

    /// Returns those nodes in `order` that have no sources: weights and inputs.
    #[must_use]
    pub fn leaves(&self, order: &[NodeId]) -> Vec<NodeId> {
        // SOLUTION week4-day2 task 2
        order.iter().copied().filter(|&id| self.node(id).op.is_leaf()).collect()
        // END SOLUTION
    }
}
