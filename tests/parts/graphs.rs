//! Random graphs, and a pass that computes a graph.

#![allow(dead_code, reason = "several days' tests have this module, and use a part of it")]

#[cfg(feature = "fresh")]
use tiny_llm_harness::fresh::Fresh;

use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, DenseCache},
        matrix::Matrix,
        plan::Plan,
        rope::{RopeLayout, RopeTable},
        rows::Row,
    },
    week4::{
        graph::{Graph, NodeId},
        step::Step,
    },
};

#[path = "drawn.rs"]
pub(crate) mod drawn;

/// Calls `run` with a pass of `n` rows on an empty cache of two layers. The last row requests
/// logits.
pub(crate) fn pass<T>(
    n: usize,
    plan: &Plan,
    run: impl FnOnce(&mut Step<'_, DenseCache>) -> T,
) -> T {
    let shape = CacheShape { layers: 2, sequences: 1, kv_heads: 2, capacity: 4, head_dim: 2 };
    let mut cache = DenseCache::new(shape, CacheType::F32);
    let row = |i: usize| Row { token: i as u32 + 3, position: i, sequence: 0, logits: i + 1 == n };
    let (rows, table) = ((0..n).map(row).collect::<Vec<_>>(), RopeTable::new(&[1.0], 4));
    let rope = (&table, RopeLayout::HalfSplit);
    run(&mut Step { rows: &rows, cache: &mut cache, plan, rope })
}

/// Returns a random graph of up to `most` + 5 four-by-four matrices, its results, which are
/// computed, and its random number generator. `numbers(i)` returns the elements of leaf `i`.
pub(crate) fn random_graph(
    seed: u64,
    most: usize,
    numbers: impl Fn(usize) -> Vec<f32>,
) -> (Graph, Vec<NodeId>, impl FnMut(usize) -> usize) {
    let mut below = drawn::below(seed);
    let mut g = Graph::default();
    let mut ids = vec![g.values(&[4, 4], &numbers(0)).expect("values must accept these numbers")];
    for i in 0..below(most) + 5 {
        let [a, b] = [0; 2].map(|_| ids[ids.len() - 1 - below(ids.len().min(6))]);
        let made = match below(8) {
            0 => g.values(&[4, 4], &numbers(i)),
            1 => g.permute(a, [1, 0, 2, 3]).and_then(|turned| g.contiguous(turned)),
            2 => g.reshape(a, &[4, 4]),
            3 => g.mul_mat(a, b),
            4 => g.rms_norm(a, &[0.5, 1.0, -2.0, 1.5], 1e-3),
            5 => g
                .weight(&Matrix::from_f32(4, 4, &numbers(i)))
                .and_then(|weight| g.mul_mat(weight, a)),
            _ => g.add(a, b),
        };
        ids.push(made.expect("the graph's builder must accept nodes of 4 × 4"));
    }
    let results = vec![ids[ids.len() - 1], ids[below(ids.len())]];
    let results = results.into_iter().filter(|&id| !g.node(g.root(id)).op.is_leaf()).collect();
    (g, results, below)
}

/// Returns a random graph of sums, products and views of 3 × 3 numbers, and its nodes.
#[cfg(feature = "fresh")]
pub(crate) fn fresh_graph(fresh: &Fresh) -> (Graph, Vec<NodeId>) {
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
