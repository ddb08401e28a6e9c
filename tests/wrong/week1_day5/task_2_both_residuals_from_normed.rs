//! id: residual-from-normed
//! function: TransformerBlock::forward
//! says: Both residuals add a normed input: add what came in, before its norm.
let normed = self.input_norm.forward(x);
let x = &normed + &self.attention.forward(&normed, mask);
let normed = self.post_attention_norm.forward(&x);
let mlp = self.mlp.forward(&normed);
normed + mlp
