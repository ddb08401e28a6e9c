//! id: residual-of-the-input
//! function: TransformerBlock::forward
//! says: The MLP's answer is added to the block's input, and what attention added is lost: add it to the sum after attention.
let attended = x + &self.attention.forward(&self.input_norm.forward(x), mask);
let mlp = self.mlp.forward(&self.post_attention_norm.forward(&attended));
x + mlp
