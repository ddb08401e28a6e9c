//! id: mask-dropped
//! function: TransformerBlock::forward
//! says: Attention saw the masked keys: hand the mask on.
let x = x + &self.attention.forward(&self.input_norm.forward(x), None);
let mlp = self.mlp.forward(&self.post_attention_norm.forward(&x));
x + mlp
