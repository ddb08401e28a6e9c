//! id: block-parallel
//! function: TransformerBlock::forward
//! says: Your MLP reads the normed input that attention reads: here it reads post_attention_norm of the sum of input and attention.
let normed = self.input_norm.forward(x);
let attended = self.attention.forward(&normed, mask);
let mlp = self.mlp.forward(&normed);
x + &attended + mlp
