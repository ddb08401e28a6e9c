//! Day 2. Nodes that only a language model has.

use anyhow::{Result, ensure};
use tiny_llm_formats::gguf::TensorType;

use crate::week4::{
    graph::{Graph, NodeId},
    layout::Layout,
    op::Op,
};

impl Graph {
    /// Adds a leaf that holds one token for each of `rows` rows.
    ///
    /// # Errors
    /// If `rows` is 0.
    pub fn tokens(&mut self, rows: usize) -> Result<NodeId> {
        let layout = Layout::new(TensorType::F32, &[rows])?;
        self.push(Op::Tokens, &[], layout)
    }

    /// Adds an embedding, which looks up each token's row: `table [E, V]`, `tokens [T]` → `[E, T]`.
    ///
    /// # Errors
    /// The same as for [`Layout::new`].
    pub fn embed(&mut self, table: NodeId, tokens: NodeId) -> Result<NodeId> {
        let layout =
            Layout::new(TensorType::F32, &[self.layout(table).ne[0], self.layout(tokens).ne[0]])?;
        self.push(Op::Embed, &[table, tokens], layout)
    }

    /// Adds a node that computes the RMSNorm of each row of `x`, and a leaf for the norm's weight.
    ///
    /// # Errors
    /// If a row isn't as long as the weight, or `x` isn't contiguous f32.
    pub fn rms_norm(&mut self, x: NodeId, weight: &[f32], eps: f32) -> Result<NodeId> {
        let layout = self.layout(x);
        ensure!(
            layout.ne[0] == weight.len() && layout.is_plain(),
            "rms_norm of {}: expected contiguous rows of {} f32, the length of the weight",
            self.told(x),
            weight.len()
        );
        let weight = self.values(&[weight.len()], weight)?;
        let fresh = Layout::new(TensorType::F32, &layout.ne)?;
        self.push(Op::RmsNorm { eps }, &[x, weight], fresh)
    }

    /// Adds a RoPE node for the heads `x [D, H, T]`. It rotates the heads of each row by the row's
    /// position.
    ///
    /// # Errors
    /// If `x` isn't contiguous f32.
    pub fn rope(&mut self, x: NodeId) -> Result<NodeId> {
        let layout = self.layout(x);
        ensure!(layout.is_plain(), "rope of {}: expected contiguous f32", self.told(x));
        let fresh = Layout::new(TensorType::F32, &layout.ne)?;
        self.push(Op::Rope, &[x], fresh)
    }

    /// Adds a node that computes `silu(gate) · up`.
    ///
    /// # Errors
    /// If the sizes differ, or an input isn't contiguous f32.
    pub fn silu_gate(&mut self, gate: NodeId, up: NodeId) -> Result<NodeId> {
        let (left, right) = (self.layout(gate), self.layout(up));
        ensure!(
            left.ne == right.ne && left.is_plain() && right.is_plain(),
            "silu_gate of {} and {}: expected contiguous f32 of the same sizes",
            self.told(gate),
            self.told(up)
        );
        let fresh = Layout::new(TensorType::F32, &left.ne)?;
        self.push(Op::SiluGate, &[gate, up], fresh)
    }

    /// Adds a node that writes the keys and values `[D, H, T]` of all rows to one layer of the
    /// cache.
    ///
    /// # Errors
    /// If the sizes differ, or an input isn't contiguous f32.
    pub fn store(&mut self, layer: usize, keys: NodeId, values: NodeId) -> Result<NodeId> {
        let (left, right) = (self.layout(keys), self.layout(values));
        ensure!(
            left.ne == right.ne && left.is_plain() && right.is_plain(),
            "store of {} and {}: expected contiguous f32 of the same sizes",
            self.told(keys),
            self.told(values)
        );
        let done = Layout::new(TensorType::F32, &[1])?;
        self.push(Op::Store { layer }, &[keys, values], done)
    }

    /// Adds a node that computes attention over a layer of the cache: `queries [D, H_q, T]` →
    /// `[H_q·D, T]`. `stored` is the node that stores the rows' own keys and values in that layer.
    ///
    /// # Errors
    /// If the queries aren't contiguous f32, or `stored` doesn't store in this layer.
    pub fn attend(&mut self, layer: usize, queries: NodeId, stored: NodeId) -> Result<NodeId> {
        let from = self.layout(queries);
        let is_stored =
            matches!(self.node(stored).op, Op::Store { layer: other } if other == layer);
        ensure!(
            from.is_plain() && is_stored,
            "attend: found queries {} and node {}, expected contiguous f32 queries and \
             the store of layer {layer}",
            self.told(queries),
            self.told(stored)
        );
        let [d, heads, rows, _] = from.ne;
        let fresh = Layout::new(TensorType::F32, &[d * heads, rows])?;
        self.push(Op::Attend { layer }, &[queries, stored], fresh)
    }

    /// Adds a node that selects the rows whose logits are needed: `x [E, T]` → `[E, rows]`.
    ///
    /// # Errors
    /// If `rows` is more than `T`, or `x` isn't contiguous f32.
    pub fn wanted(&mut self, x: NodeId, rows: usize) -> Result<NodeId> {
        let [e, all, ..] = self.layout(x).ne;
        ensure!(
            self.layout(x).is_plain() && rows <= all,
            "wanted of {}: found {rows} wanted rows, expected contiguous f32 and at most {all}",
            self.told(x)
        );
        let fresh = Layout::new(TensorType::F32, &[e, rows])?;
        self.push(Op::Wanted, &[x], fresh)
    }
}
