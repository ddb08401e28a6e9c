//! Random graphs.

use tiny_llm::week4::graph::{Graph, NodeId};
use tiny_llm_harness::fresh::Fresh;

/// Returns a random graph of sums, products and views of 3 × 3 numbers, and its nodes.
pub(crate) fn random_graph(fresh: &Fresh) -> (Graph, Vec<NodeId>) {
    let mut g = Graph::default();
    let mut ids = vec![g.values(&[3, 3], &fresh.f32s(9)).expect("nine numbers")];
    for _ in 0..fresh.from_to(5, 25) {
        let [a, b] = [0; 2].map(|_| ids[fresh.below(ids.len())]);
        let made = match fresh.below(5) {
            0 => g.values(&[3, 3], &fresh.f32s(9)),
            1 => g.permute(a, [1, 0, 2, 3]).and_then(|turned| g.contiguous(turned)),
            2 => g.reshape(a, &[3, 3]),
            3 => g.mul_mat(a, b),
            _ => g.add(a, b),
        };
        ids.push(made.expect("all operands are 3 × 3"));
    }
    (g, ids)
}
