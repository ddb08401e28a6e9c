//! id: embedding-scaled
//! function: Model::forward
//! says: The embeddings are multiplied by √E before the first layer: Gemma does that, Llama and Qwen do not.
let length = tokens.ncols();
let mask = causal_mask(length, length);
let mut x = self.embedding.forward(tokens);
x *= (x.shape()[2] as f32).sqrt();
for block in &self.blocks {
    x = block.forward(&x, Some(&mask));
}
let x = self.norm.forward(&x);
match &self.lm_head {
    Some(head) => head.forward(&x),
    None => self.embedding.as_output(&x),
}
