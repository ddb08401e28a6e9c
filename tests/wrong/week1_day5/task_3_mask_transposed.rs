//! id: mask-direction
//! function: Model::forward
//! says: Your mask is turned round: each token sees itself and later tokens, where it should see itself and earlier ones.
let length = tokens.ncols();
let mask = causal_mask(length, length).reversed_axes();
let mut x = self.embedding.forward(tokens);
for block in &self.blocks {
    x = block.forward(&x, Some(&mask));
}
let x = self.norm.forward(&x);
match &self.lm_head {
    Some(head) => head.forward(&x),
    None => self.embedding.as_output(&x),
}
