//! Day 2. Adds the nodes that any graph may have, and gives nodes their names.

use anyhow::{Context, Result, ensure};
use tiny_llm_formats::gguf::TensorType;

use crate::{
    week2::matrix::Matrix,
    week4::{
        graph::{Graph, Node, NodeId},
        layout::{AXES, Layout},
        op::Op,
    },
};

impl Graph {
    /// Sets the prefix for the names of all nodes that are added later.
    pub fn prefix(&mut self, prefix: &str) {
        prefix.clone_into(&mut self.prefix);
    }

    /// Sets a node's name to the current prefix and `name`. Returns the node.
    pub fn named(&mut self, id: NodeId, name: &str) -> NodeId {
        self.nodes[id.index()].name = format!("{}{name}", self.prefix);
        id
    }

    /// Returns the node that owns a node's bytes. A view's bytes belong to the root of its source.
    /// Any other node owns its bytes.
    #[must_use]
    pub fn root(&self, id: NodeId) -> NodeId {
        let mut root = id;
        loop {
            let Node { op, sources, .. } = self.node(root);
            match sources.first() {
                Some(&source) if op.is_view() => root = source,
                _ => return root,
            }
        }
    }

    /// Adds a leaf that holds a matrix of the model, `[cols, rows]`.
    ///
    /// # Errors
    /// The same as for [`Layout::new`].
    pub fn weight(&mut self, matrix: &Matrix) -> Result<NodeId> {
        let layout = Layout::new(matrix.tensor_type, &[matrix.cols, matrix.rows])?;
        self.push(Op::Weight(matrix.clone()), &[], layout)
    }

    /// Adds a leaf with these values.
    ///
    /// # Errors
    /// The same as for [`Layout::new`]. Also if the number of values doesn't match the sizes.
    pub fn values(&mut self, sizes: &[usize], values: &[f32]) -> Result<NodeId> {
        let layout = Layout::new(TensorType::F32, sizes)?;
        ensure!(
            layout.elements() == values.len(),
            "values of {layout}: found {} numbers, expected {}",
            values.len(),
            layout.elements()
        );
        self.push(Op::Values(values.to_vec()), &[], layout)
    }

    /// Adds a view in which axis `i` of `x` becomes axis `axes[i]`.
    ///
    /// # Errors
    /// The same as for [`Layout::permute`].
    pub fn permute(&mut self, x: NodeId, axes: [usize; AXES]) -> Result<NodeId> {
        let what = || format!("permute of {}", self.told(x));
        let layout = self.layout(x).permute(axes).with_context(what)?;
        self.push(Op::Permute, &[x], layout)
    }

    /// Adds a contiguous copy of `x`.
    ///
    /// # Errors
    /// If `x` isn't f32.
    pub fn contiguous(&mut self, x: NodeId) -> Result<NodeId> {
        let from = self.layout(x);
        ensure!(
            from.tensor_type == TensorType::F32,
            "contiguous of {}: expected f32",
            self.told(x)
        );
        let layout = Layout::new(TensorType::F32, &from.ne)?;
        self.push(Op::Contiguous, &[x], layout)
    }

    /// Returns a node's description for errors: its number, label, type and sizes.
    #[must_use]
    pub fn told(&self, id: NodeId) -> String {
        format!("node {} ({}, {})", id.index(), self.label(id), self.node(id).layout)
    }

    /// Returns a node's name. If [`Graph::named`] gave it none, returns the prefix and the
    /// operation.
    #[must_use]
    pub fn label(&self, id: NodeId) -> String {
        let Node { name, op, .. } = self.node(id);
        let is_named = !name.is_empty() && !name.ends_with(' ');
        if is_named { name.clone() } else { format!("{name}{}", op.name()) }
    }
}

impl Layout {
    /// Returns whether the tensor is contiguous and has f32 elements.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.tensor_type == TensorType::F32 && self.is_contiguous()
    }
}
