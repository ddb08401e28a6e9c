//! id: residual-from-normed
//! function: TransformerBlock::forward
//! says: The residual around the MLP adds the MLP's normed input: add what came out of attention, before the norm.
let x = x + &self.attention.forward(&self.input_norm.forward(x), mask);
let normed = self.post_attention_norm.forward(&x);
let mlp = self.mlp.forward(&normed);
normed + mlp
