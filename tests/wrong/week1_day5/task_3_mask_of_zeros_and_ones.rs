//! id: mask-values
//! function: Model::forward
//! says: Your mask adds 1 where a token may look and 0 elsewhere, so it hides nothing: it adds 0 where it may look and −∞ elsewhere.
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
