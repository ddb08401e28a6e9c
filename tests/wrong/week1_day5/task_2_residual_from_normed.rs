//! id: residual-from-normed
//! function: TransformerBlock::forward
//! says: The residual around attention adds the normed input: add the x that came in, before its norm.
let normed = self.input_norm.forward(x);
let x = &normed + &self.attention.forward(&normed, mask);
let mlp = self.mlp.forward(&self.post_attention_norm.forward(&x));
x + mlp
