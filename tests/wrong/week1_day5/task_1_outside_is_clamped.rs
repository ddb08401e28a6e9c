//! id: embedding-clamped
//! function: Embedding::forward
//! says: A token outside the vocabulary must panic, not be read as another one.
//! shows: token 4 of a vocabulary of 4 was embedded
let (b, l) = tokens.dim();
let last = self.weight.shape()[0] - 1;
let rows: Vec<usize> = tokens.iter().map(|&token| (token as usize).min(last)).collect();
reshape(&self.weight.select(Axis(0), &rows), &[b, l, self.weight.shape()[1]])
