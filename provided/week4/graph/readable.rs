//! Day 2. Which nodes an operation can read: not all of them are numbers.

use anyhow::{Result, ensure};

use crate::week4::{
    graph::{Graph, NodeId},
    op::Op,
};

impl Graph {
    /// Whether an operation can read these nodes: whether each has what it wants there. Almost all
    /// want numbers. A weight's bytes are read by a product, as its first source or through views,
    /// and by an embedding, as its table; tokens by an embedding alone; that something is stored, by
    /// an attention alone. How many sources there are, and their sizes, is the business of whoever
    /// makes the node.
    ///
    /// # Errors
    /// One line that names the operation and its sources with their sizes.
    ///
    /// # Panics
    /// If a source is no node of this graph.
    pub fn check_sources(&self, op: &Op, sources: &[NodeId]) -> Result<()> {
        let what = || {
            let told: Vec<String> = sources.iter().map(|&id| self.told(id)).collect();
            format!("{} of {}", op.name(), told.join(" and "))
        };
        for (i, &source) in sources.iter().enumerate() {
            let root = self.root(source);
            let found = self.node(root).op.name();
            let (is_read, expected) = match (op, i, &self.node(root).op) {
                (Op::Reshape | Op::Permute, ..) | (Op::MulMat, 0, Op::Weight(_)) => (true, ""),
                (Op::Embed, 0, at) => (source == root && matches!(at, Op::Weight(_)), "a weight"),
                (Op::Embed, _, at) => (source == root && matches!(at, Op::Tokens), "tokens"),
                (Op::Attend { .. }, 1, at) => {
                    (source == root && matches!(at, Op::Store { .. }), "a store")
                }
                (_, _, at) => {
                    (!matches!(at, Op::Weight(_) | Op::Tokens | Op::Store { .. }), "numbers")
                }
            };
            let seen = if source == root { "" } else { "a view of " };
            ensure!(is_read, "{}: found {seen}{found} as source {i}, expected {expected}", what());
        }
        Ok(())
    }
}
