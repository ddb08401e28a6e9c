//! id: residual-missing
//! function: TransformerBlock::forward
//! says: The residual around the MLP is missing: add to its answer what went into its norm.
let x = x + &self.attention.forward(&self.input_norm.forward(x), mask);
self.mlp.forward(&self.post_attention_norm.forward(&x))
