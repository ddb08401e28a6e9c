//! id: norm-after
//! function: Model::forward
//! says: The final norm stands before the first layer, and none after the last: it is the other way round.
let length = tokens.ncols();
let mask = causal_mask(length, length);
let mut x = self.norm.forward(&self.embedding.forward(tokens));
for block in &self.blocks {
    x = block.forward(&x, Some(&mask));
}
match &self.lm_head {
    Some(head) => head.forward(&x),
    None => self.embedding.as_output(&x),
}
