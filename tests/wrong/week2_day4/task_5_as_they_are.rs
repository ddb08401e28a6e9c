//! id: rope-gguf-permute-missed
//! function: permute_rows_for_interleaved
//! says: The rows are as they were: the two of a pair are to stand side by side.
let head_dim = rows / n_heads;
let source = |row: usize| {
    let (head, i) = (row / head_dim, row % head_dim);
    head * head_dim + i
};
(0..rows).map(source).collect()
