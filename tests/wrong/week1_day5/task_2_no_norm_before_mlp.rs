//! id: norm-missing
//! function: TransformerBlock::forward
//! says: The MLP reads x without its norm: post_attention_norm comes first.
let x = x + &self.attention.forward(&self.input_norm.forward(x), mask);
let mlp = self.mlp.forward(&x);
x + mlp
