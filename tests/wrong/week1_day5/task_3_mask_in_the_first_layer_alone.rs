//! id: mask-dropped
//! function: Model::forward
//! says: Tokens see the future in every layer but the first: every block gets the causal mask.
let length = tokens.ncols();
let mask = causal_mask(length, length);
let mut x = self.embedding.forward(tokens);
for (i, block) in self.blocks.iter().enumerate() {
    x = block.forward(&x, (i == 0).then_some(&mask));
}
let x = self.norm.forward(&x);
match &self.lm_head {
    Some(head) => head.forward(&x),
    None => self.embedding.as_output(&x),
}
