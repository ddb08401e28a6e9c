//! Day 2. Llama, Qwen2 and Qwen3 as graphs.
//!
//! Tasks here: week4-day2 task 4 (`build`, `attention`, `dense_mlp`, `linear_node`). Everything
//! else is provided.

use anyhow::{Result, bail};

use super::graph::{Graph, NodeId};
use crate::week2::{
    layer::{DenseMlp, Layer, Linear, Mlp},
    model::Model,
};

/// The size of a pass. All passes of the same size through a model have the same graph, whatever
/// their rows contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PassShape {
    /// `T`, the number of rows in the pass.
    pub rows: usize,
    /// Number of rows that request logits, at least one.
    pub wanted: usize,
}

/// Builds the graph of a pass. Returns the graph and the node of its logits `[V, wanted]`. The
/// names of layer `i`'s nodes begin with `layer i: ` ([`Graph::prefix`]), so that errors and
/// drawings show which layer they belong to. Nodes before the first layer and after the last have
/// no such prefix.
///
/// # Errors
/// If a weight has the wrong sizes, there are no rows, or `wanted` is 0 or more than `rows`.
pub fn build(model: &Model, shape: PassShape) -> Result<(Graph, NodeId)> {
    todo!("week4-day2 task 4: build")
}

/// Adds the nodes for the attention of layer `index`: `[E, T]` → `[E, T]`. `x` is already normed.
fn attention(g: &mut Graph, model: &Model, index: usize, x: NodeId) -> Result<NodeId> {
    todo!("week4-day2 task 4: attention")
}

/// Adds the nodes for a layer's MLP: `[E, T]` → `[E, T]`. The input `x` is already normed.
fn mlp(g: &mut Graph, layer: &Layer, x: NodeId) -> Result<NodeId> {
    match &layer.mlp {
        Mlp::Dense(mlp) => dense_mlp(g, mlp, x),
        #[allow(unreachable_patterns, reason = "layers may come to have other kinds of MLP")]
        _ => bail!("found a layer with experts, expected a dense MLP"),
    }
}

/// Adds the nodes of a dense MLP: `down(silu(gate(x)) · up(x))`.
fn dense_mlp(g: &mut Graph, mlp: &DenseMlp, x: NodeId) -> Result<NodeId> {
    todo!("week4-day2 task 4: dense_mlp")
}

/// Adds the nodes of a linear layer: `x · weightᵀ + bias`. Some layers have no bias.
fn linear_node(g: &mut Graph, linear: &Linear, x: NodeId) -> Result<NodeId> {
    todo!("week4-day2 task 4: linear_node")
}
