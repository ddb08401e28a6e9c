//! id: residual-missing
//! function: TransformerBlock::forward
//! says: Your MLP reads attention’s answer alone: it reads the sum of x and that answer, normed.
let attended = self.attention.forward(&self.input_norm.forward(x), mask);
let mlp = self.mlp.forward(&self.post_attention_norm.forward(&attended));
x + &attended + mlp
