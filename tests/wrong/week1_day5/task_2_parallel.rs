//! id: block-parallel
//! function: TransformerBlock::forward
//! says: Your MLP reads the block's input, as in GPT-J: here it reads the sum of input and attention.
let attended = self.attention.forward(&self.input_norm.forward(x), mask);
let mlp = self.mlp.forward(&self.post_attention_norm.forward(x));
x + &attended + mlp
