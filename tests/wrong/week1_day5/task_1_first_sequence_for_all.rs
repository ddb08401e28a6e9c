//! id: embedding-batch
//! function: Embedding::forward
//! says: Every sequence of your batch has the embeddings of the first one: look up tokens[b, l].
let (b, l) = tokens.dim();
let rows: Vec<usize> = (0..b * l).map(|i| tokens[[0, i % l]] as usize).collect();
reshape(&self.weight.select(Axis(0), &rows), &[b, l, self.weight.shape()[1]])
