//! id: norm-after
//! function: TransformerBlock::forward
//! says: Your norms stand behind attention and MLP: each stands before its part.
let x = x + &self.input_norm.forward(&self.attention.forward(x, mask));
let mlp = self.post_attention_norm.forward(&self.mlp.forward(&x));
x + mlp
