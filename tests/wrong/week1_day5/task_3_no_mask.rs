//! id: mask-dropped
//! function: Model::forward
//! says: Tokens see the future: every block gets the causal mask.
let mut x = self.embedding.forward(tokens);
for block in &self.blocks {
    x = block.forward(&x, None);
}
let x = self.norm.forward(&x);
match &self.lm_head {
    Some(head) => head.forward(&x),
    None => self.embedding.as_output(&x),
}
