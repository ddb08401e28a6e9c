//! id: norm-missing
//! function: TransformerBlock::forward
//! says: Attention reads x without its norm: input_norm comes first.
let x = x + &self.attention.forward(x, mask);
let mlp = self.mlp.forward(&self.post_attention_norm.forward(&x));
x + mlp
