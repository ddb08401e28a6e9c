//! id: mask-values
//! function: Model::forward
//! says: Your mask adds just 1 more where a token may look than elsewhere, so it hides nothing: it adds 0 there and −∞ elsewhere.
let length = tokens.ncols();
let mask = causal_mask(length, length).mapv(|v| if v == 0.0 { 1.0 } else { 0.0 });
let mut x = self.embedding.forward(tokens);
for block in &self.blocks {
    x = block.forward(&x, Some(&mask));
}
let x = self.norm.forward(&x);
match &self.lm_head {
    Some(head) => head.forward(&x),
    None => self.embedding.as_output(&x),
}
