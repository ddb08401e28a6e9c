//! id: residual-of-the-input
//! function: Model::forward
//! says: Each layer’s input is added to the layer’s answer once more: a block adds its own input already.
let length = tokens.ncols();
let mask = causal_mask(length, length);
let mut x = self.embedding.forward(tokens);
for block in &self.blocks {
    x = &x + &block.forward(&x, Some(&mask));
}
let x = self.norm.forward(&x);
match &self.lm_head {
    Some(head) => head.forward(&x),
    None => self.embedding.as_output(&x),
}
