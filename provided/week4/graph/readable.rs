//! Day 2. Checks that an operation can read its sources. Some nodes have no values to read.

use anyhow::{Result, ensure};

use crate::week4::{
    graph::{Graph, NodeId},
    op::Op,
};

impl Graph {
    /// Checks that the operation `op` can read the nodes in `sources`. A view can have any node as
    /// its source. Any other operation reads nodes that have values. It can read nodes without
    /// values only as follows:
    ///
    /// - A weight can be read by a product (as its first source, also through views) and by an
    ///   embedding (as its table).
    /// - Tokens can be read only by an embedding.
    /// - A `store` can be read only by an `attend`.
    ///
    /// The function that creates the node checks the number of sources and their sizes.
    ///
    /// # Errors
    /// If an operation can't read a source. The message is one line that names the operation and
    /// its sources with their sizes.
    ///
    /// # Panics
    /// If a source isn't a node of this graph.
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
