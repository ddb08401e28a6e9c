//! id: embedding-off-by-one
//! function: Embedding::forward
//! says: You read the row before the token’s: ids count from 0, so token t is row t.
let (b, l) = tokens.dim();
let rows: Vec<usize> = tokens.iter().map(|&token| (token as usize).saturating_sub(1)).collect();
reshape(&self.weight.select(Axis(0), &rows), &[b, l, self.weight.shape()[1]])
