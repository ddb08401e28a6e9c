//! id: norm-after
//! function: Model::forward
//! says: The final norm is applied after every layer: it stands once, after the last.
let length = tokens.ncols();
let mask = causal_mask(length, length);
let mut x = self.embedding.forward(tokens);
for block in &self.blocks {
    x = self.norm.forward(&block.forward(&x, Some(&mask)));
}
match &self.lm_head {
    Some(head) => head.forward(&x),
    None => self.embedding.as_output(&x),
}
