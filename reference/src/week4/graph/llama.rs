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
    // SOLUTION week4-day2 task 4
    let (mut g, eps) = (Graph::default(), model.config.rms_norm_eps);
    let embedding = g.weight(&model.embedding)?;
    let tokens = g.tokens(shape.rows)?;
    let mut x = g.embed(embedding, tokens)?;
    for (i, layer) in model.layers.iter().enumerate() {
        g.prefix(&format!("layer {i}: "));
        let input = g.rms_norm(x, &layer.attention_norm, eps)?;
        let attention = attention(&mut g, model, i, input)?;
        x = g.add(x, attention)?;
        let input = g.rms_norm(x, &layer.mlp_norm, eps)?;
        let mlp = mlp(&mut g, layer, input)?;
        x = g.add(x, mlp)?;
    }
    g.prefix("");
    let wanted = g.wanted(x, shape.wanted)?;
    let normed = g.rms_norm(wanted, &model.norm, eps)?;
    let head = match &model.lm_head {
        Some(head) => g.weight(head)?,
        None => embedding,
    };
    let logits = g.mul_mat(head, normed)?;
    Ok((g, logits))
    // END SOLUTION
}

/// Adds the nodes for the attention of layer `index`: `[E, T]` → `[E, T]`. `x` is already normed.
fn attention(g: &mut Graph, model: &Model, index: usize, x: NodeId) -> Result<NodeId> {
    // SOLUTION week4-day2 task 4
    let (c, layer) = (&model.config, &model.layers[index]);
    let mut heads = |linear: &Linear, n: usize, norm: &Option<Vec<f32>>| {
        let x = linear_node(g, linear, x)?;
        let rows = g.layout(x).ne[1];
        let x = g.reshape(x, &[c.head_dim, n, rows])?;
        match norm {
            Some(norm) => g.rms_norm(x, norm, c.rms_norm_eps),
            None => Ok(x),
        }
    };
    let q = heads(&layer.q_proj, c.n_heads, &layer.q_norm)?;
    let k = heads(&layer.k_proj, c.n_kv_heads, &layer.k_norm)?;
    let v = heads(&layer.v_proj, c.n_kv_heads, &None)?;
    let (q, k) = (g.rope(q)?, g.rope(k)?);
    let stored = g.store(index, k, v)?;
    let mixed = g.attend(index, q, stored)?;
    linear_node(g, &layer.o_proj, mixed)
    // END SOLUTION
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
    // SOLUTION week4-day2 task 4
    let [gate, up, down] =
        [g.weight(&mlp.gate_proj)?, g.weight(&mlp.up_proj)?, g.weight(&mlp.down_proj)?];
    let (gate, up) = (g.mul_mat(gate, x)?, g.mul_mat(up, x)?);
    let gated = g.silu_gate(gate, up)?;
    g.mul_mat(down, gated)
    // END SOLUTION
}

/// Adds the nodes of a linear layer: `x · weightᵀ + bias`. Some layers have no bias.
fn linear_node(g: &mut Graph, linear: &Linear, x: NodeId) -> Result<NodeId> {
    // SOLUTION week4-day2 task 4
    let weight = g.weight(&linear.weight)?;
    let product = g.mul_mat(weight, x)?;
    match &linear.bias {
        Some(bias) => {
            let bias = g.values(&[bias.len()], bias)?;
            g.add(product, bias)
        }
        None => Ok(product),
    }
    // END SOLUTION
}
