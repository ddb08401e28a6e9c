//! id: rope-permutation-inverted
//! function: permute_rows_for_interleaved
//! says: This is the way back: row 1 of a head in the file is row D/2 of the checkpoint, not row 2.
let head_dim = rows / n_heads;
let source = |row: usize| {
    let (head, i) = (row / head_dim, row % head_dim);
    head * head_dim + i % (head_dim / 2) * 2 + i / (head_dim / 2)
};
(0..rows).map(source).collect()
