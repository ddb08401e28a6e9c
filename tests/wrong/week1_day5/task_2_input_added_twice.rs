//! id: residual-of-the-input
//! function: TransformerBlock::forward
//! says: The block’s input is added twice: the sum after attention holds it already.
let attended = x + &self.attention.forward(&self.input_norm.forward(x), mask);
let mlp = self.mlp.forward(&self.post_attention_norm.forward(&attended));
x + &attended + mlp
