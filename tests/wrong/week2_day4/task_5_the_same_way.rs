//! id: rope-permutation-inverted
//! function: permute_rows_for_half_split
//! says: This is the way into the file once more: the way back takes row D/2 of a head from row 1.
let head_dim = rows / n_heads;
let source = |row: usize| {
    let (head, i) = (row / head_dim, row % head_dim);
    let half = head_dim / 2;
    head * head_dim + i % 2 * half + i / 2
};
(0..rows).map(source).collect()
