//! id: rope-halves-restacked
//! function: permute_rows_for_interleaved
//! says: The two of each pair are exchanged: the row of the first half comes first.
let head_dim = rows / n_heads;
let source = |row: usize| {
    let (head, i) = (row / head_dim, row % head_dim);
    head * head_dim + (1 - i % 2) * (head_dim / 2) + i / 2
};
(0..rows).map(source).collect()
