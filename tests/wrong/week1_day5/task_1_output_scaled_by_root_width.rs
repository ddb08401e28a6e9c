//! id: output-scaled
//! function: Embedding::as_output
//! says: Your logits are divided by √E: a score of the output head is the plain dot product.
linear(x, &self.weight, None) / (self.weight.shape()[1] as f32).sqrt()
