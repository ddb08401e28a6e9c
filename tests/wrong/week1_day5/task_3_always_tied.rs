//! id: tied-head-missing
//! function: Model::forward
//! says: The logits come from the embedding although the model has an output head of its own: use lm_head where there is one.
let length = tokens.ncols();
let mask = causal_mask(length, length);
let mut x = self.embedding.forward(tokens);
for block in &self.blocks {
    x = block.forward(&x, Some(&mask));
}
let x = self.norm.forward(&x);
self.embedding.as_output(&x)
