//! id: norm-after
//! function: Model::forward
//! says: The final norm is applied twice: it stands once, after the last layer.
let length = tokens.ncols();
let mask = causal_mask(length, length);
let mut x = self.embedding.forward(tokens);
for block in &self.blocks {
    x = block.forward(&x, Some(&mask));
}
let x = self.norm.forward(&x);
let x = self.norm.forward(&x);
match &self.lm_head {
    Some(head) => head.forward(&x),
    None => self.embedding.as_output(&x),
}
