//! id: residual-missing
//! function: TransformerBlock::forward
//! says: The residual around attention is missing: add x to what attention gives.
let x = self.attention.forward(&self.input_norm.forward(x), mask);
let mlp = self.mlp.forward(&self.post_attention_norm.forward(&x));
x + mlp
