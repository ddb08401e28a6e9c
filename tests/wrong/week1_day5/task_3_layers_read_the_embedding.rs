//! id: layer-order
//! function: Model::forward
//! says: Only the last layer counts: each layer must read what the one before it gave, not the embedding.
let length = tokens.ncols();
let mask = causal_mask(length, length);
let mut x = self.embedding.forward(tokens);
let embedded = x.clone();
for block in &self.blocks {
    x = block.forward(&embedded, Some(&mask));
}
let x = self.norm.forward(&x);
match &self.lm_head {
    Some(head) => head.forward(&x),
    None => self.embedding.as_output(&x),
}
