//! id: permuted-across-heads
//! function: permute_rows_for_half_split
//! says: You permuted all rows as one head: each head is permuted on its own.
let head_dim = rows;
let source = |row: usize| {
    let (head, i) = (row / head_dim, row % head_dim);
    let half = head_dim / 2;
    head * head_dim + i % half * 2 + i / half
};
(0..rows).map(source).collect()
