//! Day 2. What a pass has besides its graph.

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

/// What a pass over a graph has besides the graph.
pub struct Step<'a, C: ?Sized> {
    /// What is asked for.
    pub rows: &'a [Row],
    /// Where keys and values are.
    pub cache: &'a mut C,
    /// How it is computed.
    pub plan: &'a Plan,
    /// The table that heads are turned by, and which numbers turn together.
    pub rope: (&'a RopeTable, RopeLayout),
}

impl<C: StepCache + ?Sized> Step<'_, C> {
    /// Whether this order of a graph can be computed in this step: as many rows, tokens that the
    /// table has, heads and layers that the cache has room for.
    ///
    /// # Errors
    /// One line that names the node, its operation, what it reads and what does not fit.
    pub fn check(&self, graph: &Graph, order: &[NodeId]) -> Result<()> {
        let rows = self.rows.len();
        let CacheShape { layers, sequences, kv_heads, capacity, head_dim } = self.cache.sizes();
        for &id in order {
            let node = graph.node(id);
            let what = || graph.told_with_sources(id);
            let of = |i: usize| graph.layout(node.sources[i]).ne;
            // What is found, and what is expected.
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
                ensure!(layer < layers, "{}: found layer {layer} of {layers}", what());
                let heads = of(0)[1];
                ensure!(
                    heads.is_multiple_of(kv_heads),
                    "{}: found {heads} heads, expected a multiple of {kv_heads}, the cache's",
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
                    ensure!(at < limit, "{}: found position {at} of {limit}", what());
                }
                if let Op::Store { .. } = node.op {
                    let at = row.sequence;
                    ensure!(at < sequences, "{}: found sequence {at} of {sequences}", what());
                }
                if let Op::Embed = node.op {
                    let (token, table) = (row.token, of(0)[1]);
                    let is_there = (token as usize) < table;
                    ensure!(is_there, "{}: found token {token} of {table}", what());
                }
            }
        }
        Ok(())
    }
}

/// A step whose cache may be of any kind, which only shows when it runs (day 4).
pub type AnyStep<'a> = Step<'a, dyn StepCache + 'a>;

/// What a step asks of its cache, of whatever kind that is.
pub trait StepCache {
    /// Its sizes.
    fn sizes(&self) -> CacheShape;

    /// As [`KvCache::write`].
    fn put(&mut self, layer: usize, row: &Row, keys: &[f32], values: &[f32]);

    /// As [`attend`].
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
