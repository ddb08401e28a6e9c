//! Day 4. Which backend computes which node: first those nodes for which there is no choice.
//!
//! Tasks here: week4-day4 task 2 (`pin`). Everything else is provided.

use anyhow::{Result, bail};

use super::{
    backend::Backend,
    graph::{Graph, NodeId},
    op::Op,
};

/// What is known about where nodes are computed before anybody counts copies. Backends are numbers
/// here: places in the list, which begins with the one that is preferred.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Weights that lie in a backend's memory already, and which backend that is.
    pub homes: Vec<(NodeId, usize)>,
    /// The backend that has the cache, if that is settled.
    pub cache: Option<usize>,
}

/// For every node of the order, the backend that has to compute it, or `None` where any of them
/// may; leaves and views have none either. `[nodes of the graph]`.
///
/// - No backend computes what it does not support.
/// - A node that reads a weight is computed where the weight is at home; if it has no home, or
///   one that does not support the node, by the first backend that does. Weights are what is large.
/// - All that stores and attends is computed by one backend, which has the cache: by the one
///   wished for if it supports all of it, or else by the first that does.
/// - Any other node is settled only if a single backend supports it.
///
/// # Errors
/// If no backend supports a node, or none supports all that stores and attends: then it's the
/// first of these at which no backend is left. One line that names the node, its operation, what
/// it reads, and the backends.
pub fn pin(
    graph: &Graph,
    order: &[NodeId],
    backends: &[&dyn Backend],
    wishes: &Wishes,
) -> Result<Vec<Option<usize>>> {
    todo!("week4-day4 task 2: pin")
}

/// Whether it reads or writes keys and values.
fn touches_cache(op: &Op) -> bool {
    matches!(op, Op::Store { .. } | Op::Attend { .. })
}

/// Why a graph cannot be computed.
fn unsupported(graph: &Graph, id: NodeId, backends: &[&dyn Backend]) -> String {
    let names: Vec<&str> = backends.iter().map(|backend| backend.name()).collect();
    let [names, what] = [names.join(", "), graph.told_with_sources(id)];
    format!("{what}: found no backend that supports it among {names}")
}
