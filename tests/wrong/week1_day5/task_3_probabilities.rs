//! id: logits-softmax
//! function: Model::forward
//! says: These are probabilities: forward returns logits, before any softmax.
let length = tokens.ncols();
let mask = causal_mask(length, length);
let mut x = self.embedding.forward(tokens);
for block in &self.blocks {
    x = block.forward(&x, Some(&mask));
}
let x = self.norm.forward(&x);
let logits = match &self.lm_head {
    Some(head) => head.forward(&x),
    None => self.embedding.as_output(&x),
};
super::attention::softmax(&logits)
