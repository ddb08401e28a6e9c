//! id: permuted-across-heads
//! function: permute_rows_for_interleaved
//! says: You permuted all rows as one head: each head is permuted on its own.
let head_dim = rows;
let source = |row: usize| {
    let (head, i) = (row / head_dim, row % head_dim);
    head * head_dim + i % 2 * (head_dim / 2) + i / 2
};
(0..rows).map(source).collect()
