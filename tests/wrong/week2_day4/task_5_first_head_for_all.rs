//! id: permuted-across-heads
//! function: permute_rows_for_interleaved
//! says: The rows of a head begin at head · head_dim: without that all heads take those of the first.
let head_dim = rows / n_heads;
let source = |row: usize| {
    let (head, i) = (row / head_dim, row % head_dim);
    head * 0 + i % 2 * (head_dim / 2) + i / 2
};
(0..rows).map(source).collect()
