//! id: embedding-order
//! function: Embedding::forward
//! says: Your embeddings stand in the order of positions first: row b · L + l of the answer belongs to token l of sequence b.
let (b, l) = tokens.dim();
let rows: Vec<usize> = tokens.t().iter().map(|&token| token as usize).collect();
reshape(&self.weight.select(Axis(0), &rows), &[b, l, self.weight.shape()[1]])
