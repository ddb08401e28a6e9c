//! id: norms-exchanged
//! function: TransformerBlock::forward
//! says: input_norm stands before the MLP too: post_attention_norm belongs there.
let x = x + &self.attention.forward(&self.input_norm.forward(x), mask);
let mlp = self.mlp.forward(&self.input_norm.forward(&x));
x + mlp
