//! id: embedding-off-by-one
//! function: Embedding::forward
//! says: You read the row after the token's: ids count from 0, so token t is row t.
let (b, l) = tokens.dim();
let v = self.weight.shape()[0];
let rows: Vec<usize> = tokens.iter().map(|&token| token as usize).inspect(|&t| assert!(t < v)).map(|t| (t + 1) % v).collect();
reshape(&self.weight.select(Axis(0), &rows), &[b, l, self.weight.shape()[1]])
