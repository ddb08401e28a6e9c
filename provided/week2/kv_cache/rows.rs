//! The rows that a forward pass computes, and their queries in attention.

/// One token of a forward pass. A prefill has many rows of one sequence, decoding has one row, and
/// a batch of requests has rows of several sequences. The model treats every row the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The token's id.
    pub token: u32,
    /// The token's position in its sequence, from 0. The sequence's earlier tokens are already in
    /// the cache, or in earlier rows of the pass.
    pub position: usize,
    /// The sequence's number in the cache.
    pub sequence: usize,
    /// Whether the logits of this row are needed. For most rows of a prompt, they are not. The
    /// output head is the largest matrix, so skipping it saves time.
    pub logits: bool,
}

/// The queries of all rows of a pass, in one layer.
#[derive(Debug, Clone, Copy)]
pub struct Queries<'a> {
    /// Rows of the pass, `[T]`. Their own keys and values are already in the cache.
    pub rows: &'a [Row],
    /// Queries, `[T, H_q·D]`.
    pub q: &'a [f32],
    /// Number of query heads that share a key and value head, `G`.
    pub group: usize,
    /// Number of elements in a head, `D`.
    pub head_dim: usize,
}
