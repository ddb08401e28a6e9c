//! id: layer-order
//! function: Model::forward
//! says: The first layer did not run.
let length = tokens.ncols();
let mask = causal_mask(length, length);
let mut x = self.embedding.forward(tokens);
for block in self.blocks.iter().skip(1) {
    x = block.forward(&x, Some(&mask));
}
let x = self.norm.forward(&x);
match &self.lm_head {
    Some(head) => head.forward(&x),
    None => self.embedding.as_output(&x),
}
