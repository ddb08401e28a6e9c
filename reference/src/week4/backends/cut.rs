//! Day 4. Places the unpinned nodes, with as few copies between backends as possible.
//!
//! Tasks here: week4-day4 task 3 (`fewest_copies`). Everything else is provided.

use super::{
    flow::Network,
    graph::{Graph, NodeId},
};

/// Decides which of two backends computes each node in `order`. A node that `pinned` assigns to a
/// backend stays there. The other nodes are placed so that as few results as possible are copied.
/// Of several such placements, chooses the one with the most nodes on the first backend. Returns
/// the backend of each node of the graph: `None` for leaves, views and nodes outside `order`.
///
/// One copy of a node's result serves all nodes on the other backend that read the result or a view
/// of it. Leaves are not copied: each backend that reads a leaf stores it once.
#[must_use]
pub fn fewest_copies(
    graph: &Graph,
    order: &[NodeId],
    pinned: &[Option<usize>],
) -> Vec<Option<usize>> {
    // SOLUTION week4-day4 task 3
    let is_computed = |id: NodeId| {
        let op = &graph.node(id).op;
        !op.is_leaf() && !op.is_view()
    };
    // The network has three points for each node: the node, its copy on the last backend, and its
    // copy on the first.
    let point = |id: NodeId| 2 + 3 * id.index();
    let mut network = Network::new(3 * graph.len());
    for &id in order.iter().filter(|&&id| is_computed(id)) {
        let node = point(id);
        match pinned[id.index()] {
            Some(0) => network.edge(Network::FIRST, node, Network::NEVER),
            Some(_) => network.edge(node, Network::LAST, Network::NEVER),
            None => {}
        }
        network.edge(node, node + 1, 1);
        network.edge(node + 2, node, 1);
        for &source in &graph.node(id).sources {
            let root = graph.root(source);
            if is_computed(root) {
                network.edge(point(root) + 1, node, Network::NEVER);
                network.edge(node, point(root) + 2, Network::NEVER);
            }
        }
    }
    network.cheapest_cut();
    let last = network.on_the_last_side();
    let mut placed = vec![None; graph.len()];
    for &id in order.iter().filter(|&&id| is_computed(id)) {
        placed[id.index()] = Some(usize::from(last[point(id)]));
    }
    placed
    // END SOLUTION
}
