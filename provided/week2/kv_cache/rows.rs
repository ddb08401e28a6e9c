//! What a forward pass is asked for: rows, and what they ask of attention.

/// One token of a forward pass. Prefill is many rows of one sequence, decoding is one row, and a
/// batch of requests is rows of several sequences: the model does not tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The token at this position.
    pub token: u32,
    /// Its place in its sequence, from 0: that many tokens of the sequence are in the cache
    /// already, or in earlier rows.
    pub position: usize,
    /// Which sequence of the cache.
    pub sequence: usize,
    /// Whether the scores of the next token are wanted. The output head is the largest matrix; most
    /// rows of a prompt do not need it.
    pub logits: bool,
}

/// What attends: the queries of all rows of a pass, in one layer.
#[derive(Debug, Clone, Copy)]
pub struct Queries<'a> {
    /// `T` of them. Their own keys and values are in the cache already.
    pub rows: &'a [Row],
    /// `[T, H_q·D]`
    pub q: &'a [f32],
    /// `G`, query heads that share a key and value head.
    pub group: usize,
    /// `D`
    pub head_dim: usize,
}
