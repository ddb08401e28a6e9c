//! id: norm-after
//! function: TransformerBlock::forward
//! says: post_attention_norm goes over attention’s answer, and the MLP reads x without a norm: it stands before the MLP, despite its name.
let x = x + &self.post_attention_norm.forward(&self.attention.forward(&self.input_norm.forward(x), mask));
let mlp = self.mlp.forward(&x);
x + mlp
