//! id: norm-after
//! function: TransformerBlock::forward
//! says: Your norms stand behind the residual sums, as in the first transformer: here each stands before its part, and the sum is not normed.
let x = self.input_norm.forward(&(x + &self.attention.forward(x, mask)));
let mlp = self.mlp.forward(&x);
self.post_attention_norm.forward(&(x + mlp))
