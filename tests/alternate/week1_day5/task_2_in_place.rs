//! function: TransformerBlock::forward
//! how: sums in place
let mut out = x.clone();
out += &self.attention.forward(&self.input_norm.forward(&out), mask);
let mlp = self.mlp.forward(&self.post_attention_norm.forward(&out));
out += &mlp;
out
