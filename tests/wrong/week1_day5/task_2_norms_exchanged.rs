//! id: norms-exchanged
//! function: TransformerBlock::forward
//! says: The two norms are exchanged: input_norm stands before attention, post_attention_norm before the MLP.
let x = x + &self.attention.forward(&self.post_attention_norm.forward(x), mask);
let mlp = self.mlp.forward(&self.input_norm.forward(&x));
x + mlp
