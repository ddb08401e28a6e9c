//! Day 2. The inputs of a pass other than its graph.

use anyhow::{Result, ensure};

use crate::week2::{
    attention::attend,
    cache::{CacheShape, KvCache},
    plan::Plan,
    rope::{RopeLayout, RopeTable},
    rows::{Queries, Row},
};
use crate::week4::{
    graph::{Graph, NodeId},
    op::Op,
};

/// The inputs of a pass other than its graph.
pub struct Step<'a, C: ?Sized> {
    /// The rows to compute.
    pub rows: &'a [Row],
    /// The cache for keys and values.
    pub cache: &'a mut C,
    /// The kernels, attention and threads that compute the pass.
    pub plan: &'a Plan,
    /// The table of RoPE angles, and which elements of a head are rotated together.
    pub rope: (&'a RopeTable, RopeLayout),
}

impl<C: StepCache + ?Sized> Step<'_, C> {
    /// Checks that the nodes in `order` can be computed in this step. Compares the number of rows
    /// with the graph, and token ids with the size of the embedding. Compares layers, heads,
    /// positions and sequences with the cache, and positions also with the RoPE table.
    ///
    /// # Errors
    /// If something doesn't match. The message is one line that names the node, its operation, its
    /// sources and the mismatch.
    pub fn check(&self, graph: &Graph, order: &[NodeId]) -> Result<()> {
        let rows = self.rows.len();
        let CacheShape { layers, sequences, kv_heads, capacity, head_dim } = self.cache.sizes();
        for &id in order {
            let node = graph.node(id);
            let what = || graph.told_with_sources(id);
            let of = |i: usize| graph.layout(node.sources[i]).ne;
            // Pairs of found and expected sizes.
            let sizes: &[([usize; 4], [usize; 4])] = match &node.op {
                Op::Tokens => &[(node.layout.ne, [rows, 1, 1, 1])],
                Op::Rope => &[(of(0), [self.rope.0.head_dim(), of(0)[1], rows, 1])],
                Op::Store { .. } => &[(of(0), [head_dim, kv_heads, rows, 1])],
                Op::Attend { .. } => &[(of(0), [head_dim, of(0)[1], rows, 1])],
                Op::Wanted => {
                    let wanted = self.rows.iter().filter(|row| row.logits).count();
                    let wide = of(0)[0];
                    &[(of(0), [wide, rows, 1, 1]), (node.layout.ne, [wide, wanted, 1, 1])]
                }
                _ => &[],
            };
            for (found, expected) in sizes {
                ensure!(found == expected, "{}: found {found:?}, expected {expected:?}", what());
            }
            if let Op::Store { layer } | Op::Attend { layer } = node.op {
                ensure!(
                    layer < layers,
                    "{}: found layer {layer}, expected one below {layers}",
                    what()
                );
                let heads = of(0)[1];
                ensure!(
                    heads.is_multiple_of(kv_heads),
                    "{}: found {heads} query heads, expected a multiple of {kv_heads}, the cache's \
                     key heads",
                    what()
                );
            }
            let limit = match node.op {
                Op::Rope => Some(self.rope.0.positions()),
                Op::Store { .. } => Some(capacity),
                _ => None,
            };
            for row in self.rows {
                if let Some(limit) = limit {
                    let at = row.position;
                    ensure!(
                        at < limit,
                        "{}: found position {at}, expected one below {limit}",
                        what()
                    );
                }
                if let Op::Store { .. } = node.op {
                    let at = row.sequence;
                    ensure!(
                        at < sequences,
                        "{}: found sequence {at}, expected one below {sequences}",
                        what()
                    );
                }
                if let Op::Embed = node.op {
                    let (token, table) = (row.token, of(0)[1]);
                    let is_there = (token as usize) < table;
                    ensure!(
                        is_there,
                        "{}: found token {token}, expected one below {table}",
                        what()
                    );
                }
            }
        }
        Ok(())
    }
}

/// A step with a cache whose type is known only at run time (day 4).
pub type AnyStep<'a> = Step<'a, dyn StepCache + 'a>;

/// The cache operations that a step uses. Every [`KvCache`] implements this trait.
pub trait StepCache {
    /// Returns the cache's sizes.
    fn sizes(&self) -> CacheShape;

    /// Writes a row's keys and values, like [`KvCache::write`].
    fn put(&mut self, layer: usize, row: &Row, keys: &[f32], values: &[f32]);

    /// Computes attention over a layer, like [`attend`].
    fn answer(&self, plan: &Plan, layer: usize, queries: Queries<'_>, out: &mut [f32]);
}

impl<C: KvCache> StepCache for C {
    fn sizes(&self) -> CacheShape {
        self.shape()
    }

    fn put(&mut self, layer: usize, row: &Row, keys: &[f32], values: &[f32]) {
        self.write(layer, row.sequence, row.position, keys, values);
    }

    fn answer(&self, plan: &Plan, layer: usize, queries: Queries<'_>, out: &mut [f32]) {
        attend(plan, self, layer, queries, out);
    }
}
