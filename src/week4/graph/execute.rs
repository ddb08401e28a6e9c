//! Day 2. Computes a graph, node by node, with week 2's kernels. Every node has its own buffer.
//!
//! Tasks here: week4-day2 task 3 (`Executor::run`, `Products::multiply`). Everything else is
//! provided.

use std::mem;

use super::{
    graph::{Graph, NodeId},
    kernels::{self, product_of_values},
    op::Op,
    step::Step,
};
use crate::week2::{cache::KvCache, input::Input, plan::Plan};

/// Computes graphs. The buffers for the nodes' values are reused from one pass to the next.
#[derive(Debug, Default)]
pub struct Executor {
    /// `[nodes]`, the values of the nodes that have been computed.
    buffers: Vec<Vec<f32>>,
    products: Products,
}

/// Computes products. Keeps the prepared input of the last product, so that the next product can
/// reuse it.
#[derive(Debug, Default)]
pub struct Products {
    /// The vectors that were last multiplied by a weight, in the form that week 2's kernels need.
    input: Input,
    /// The node whose values `input` holds, and the number of int8 values per scale. The number is
    /// `None` if `input` has no int8 values. The whole pair is `None` if `input` holds no node's
    /// values.
    prepared: Option<(NodeId, Option<usize>)>,
}

impl Executor {
    /// Computes all nodes in `order`, and overwrites the results of an earlier pass. Doesn't call
    /// `cache.advance`: the caller does so after the pass, once for each row.
    pub fn run<C: KvCache>(&mut self, graph: &Graph, order: &[NodeId], step: &mut Step<'_, C>) {
        todo!("week4-day2 task 3: Executor::run")
    }

    /// Returns a node's values. For a view, returns its root's values.
    ///
    /// # Panics
    /// If the values have not been computed, or the node is a weight.
    #[must_use]
    pub fn values<'a>(&'a self, graph: &'a Graph, id: NodeId) -> &'a [f32] {
        kernels::values(graph, id, &self.buffers)
    }
}

impl Products {
    /// Begins a pass: forgets the input that was prepared in an earlier pass.
    pub fn forget(&mut self) {
        self.prepared = None;
    }

    /// Multiplies the two sources of node `id` and writes the product to `out`. `sources` holds
    /// their values, which are empty for a weight. If the first source is a weight, week 2's
    /// kernels compute the product, and the second source must be prepared for them. Consecutive
    /// products of the same source with different weights share one prepared form. This form must
    /// suit all these weights, so pass [`Graph::longest_block`] to [`Plan::prepare_for`].
    pub fn multiply(
        &mut self,
        graph: &Graph,
        id: NodeId,
        sources: [&[f32]; 2],
        plan: &Plan,
        out: &mut [f32],
    ) {
        todo!("week4-day2 task 3: Products::multiply")
    }
}
