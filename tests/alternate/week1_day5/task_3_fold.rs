//! function: Model::forward
//! how: a fold over the layers
let length = tokens.ncols();
let mask = causal_mask(length, length);
let x = self.blocks.iter().fold(self.embedding.forward(tokens), |x, block| block.forward(&x, Some(&mask)));
let x = self.norm.forward(&x);
match &self.lm_head {
    Some(head) => head.forward(&x),
    None => linear(&x, &self.embedding.weight, None),
}
