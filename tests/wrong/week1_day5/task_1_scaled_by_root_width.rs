//! id: embedding-scaled
//! function: Embedding::forward
//! says: Your embeddings are √E times too large: the first transformer and Gemma scale them so, Llama and Qwen do not.
let (b, l) = tokens.dim();
let e = self.weight.shape()[1];
let rows: Vec<usize> = tokens.iter().map(|&token| token as usize).collect();
reshape(&self.weight.select(Axis(0), &rows), &[b, l, e]) * (e as f32).sqrt()
