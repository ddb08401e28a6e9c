//! Day 4. Decides which backend computes which node, beginning with the nodes that leave no choice.
//!
//! Tasks here: week4-day4 task 2 (`pin`). Everything else is provided.

use anyhow::{Result, bail};

use super::{
    backend::Backend,
    graph::{Graph, NodeId},
    op::Op,
};

/// Preferences for the placement of nodes. They are met even if this needs more copies. A backend's
/// number is its index in the list of backends, which begins with the preferred backend.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Weights that are already in a backend's memory, each with the number of that backend.
    pub homes: Vec<(NodeId, usize)>,
    /// The backend that should store the cache, or `None` if there is no preference.
    pub cache: Option<usize>,
}

/// Decides for each node in `order` whether a particular backend must compute it. Returns an entry
/// for each node of the graph: the index of that backend, or `None` if the choice is open. The
/// entries of leaves and views are `None`.
///
/// - No backend computes a node that it does not support.
/// - A node that reads an [`Op::Weight`], directly or through views, is computed by the weight's
///   home, because weights are large. The home is the backend that already has the weight
///   ([`Wishes::homes`]). If a node reads several weights, the first one decides. If the weight has
///   no home, or its home does not support the node, the first backend that supports the node
///   computes it. A norm reads [`Op::Values`], which are small and don't count as weights here.
/// - One backend has the cache, and computes all `store` and `attend` nodes. It is
///   [`Wishes::cache`] if that backend supports all of these nodes. Otherwise it is the first
///   backend that supports all of them.
/// - Any other node is pinned only if exactly one backend supports it.
///
/// # Errors
/// - If no backend supports a node.
/// - If no single backend supports all `store` and `attend` nodes. Go through these nodes in order,
///   and drop the backends that do not support each. The message names the node at which no
///   backend is left.
///
/// If both apply, the message may name either node. The message is one line that names the node,
/// its operation, what it reads, and the backends.
pub fn pin(
    graph: &Graph,
    order: &[NodeId],
    backends: &[&dyn Backend],
    wishes: &Wishes,
) -> Result<Vec<Option<usize>>> {
    // SOLUTION week4-day4 task 2
    let all = || (0..backends.len()).collect::<Vec<_>>();
    let able = |id: NodeId| -> Vec<usize> {
        all().into_iter().filter(|&b| backends[b].supports(graph, id)).collect()
    };
    let (mut pinned, mut cache) = (vec![None; graph.len()], all());
    for &id in order {
        let node = graph.node(id);
        if node.op.is_leaf() || node.op.is_view() {
            continue;
        }
        let able = able(id);
        if able.is_empty() {
            bail!(unsupported(graph, id, backends));
        }
        let home = node.sources.iter().find_map(|&source| {
            let weight = graph.root(source);
            let home = wishes.homes.iter().find(|(node, _)| *node == weight);
            matches!(graph.node(weight).op, Op::Weight(_)).then_some(home.map(|&(_, b)| b))
        });
        pinned[id.index()] = match (home, &able[..]) {
            (Some(home), _) => home.filter(|home| able.contains(home)).or(Some(able[0])),
            (None, &[only]) => Some(only),
            (None, _) => None,
        };
        if touches_cache(&node.op) {
            cache.retain(|b| able.contains(b));
            if cache.is_empty() {
                bail!(unsupported(graph, id, backends));
            }
        }
    }
    let keeper = wishes.cache.filter(|b| cache.contains(b)).unwrap_or(cache[0]);
    for &id in order.iter().filter(|&&id| touches_cache(&graph.node(id).op)) {
        pinned[id.index()] = Some(keeper);
    }
    Ok(pinned)
    // END SOLUTION
}

/// Returns whether the operation reads or writes keys and values.
fn touches_cache(op: &Op) -> bool {
    matches!(op, Op::Store { .. } | Op::Attend { .. })
}

/// Returns the error message for a node `id` that can't be placed on any backend.
fn unsupported(graph: &Graph, id: NodeId, backends: &[&dyn Backend]) -> String {
    let names: Vec<&str> = backends.iter().map(|backend| backend.name()).collect();
    let [names, what] = [names.join(", "), graph.told_with_sources(id)];
    format!("{what}: not supported by any of the backends {names}")
}
