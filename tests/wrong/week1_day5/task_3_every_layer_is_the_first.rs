//! id: layer-index-captured-last
//! function: Model::forward
//! says: Every layer runs with the first layer's weights: each has its own.
let length = tokens.ncols();
let mask = causal_mask(length, length);
let mut x = self.embedding.forward(tokens);
for _ in &self.blocks {
    x = self.blocks[0].forward(&x, Some(&mask));
}
let x = self.norm.forward(&x);
match &self.lm_head {
    Some(head) => head.forward(&x),
    None => self.embedding.as_output(&x),
}
