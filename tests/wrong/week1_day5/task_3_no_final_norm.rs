//! id: norm-missing
//! function: Model::forward
//! says: The norm after the last layer is missing.
let length = tokens.ncols();
let mask = causal_mask(length, length);
let mut x = self.embedding.forward(tokens);
for block in &self.blocks {
    x = block.forward(&x, Some(&mask));
}
match &self.lm_head {
    Some(head) => head.forward(&x),
    None => self.embedding.as_output(&x),
}
