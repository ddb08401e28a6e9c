//! id: tied-head-missing
//! function: Model::forward
//! says: A tied model has no lm_head: its logits are dot products with the embedding's rows, h · Eᵀ.
//! shows: lm_head
let length = tokens.ncols();
let mask = causal_mask(length, length);
let mut x = self.embedding.forward(tokens);
for block in &self.blocks {
    x = block.forward(&x, Some(&mask));
}
let x = self.norm.forward(&x);
self.lm_head.as_ref().expect("lm_head").forward(&x)
