//! function: Embedding::forward
//! how: a product with one-hot rows
let (b, l) = tokens.dim();
let (v, e) = (self.weight.shape()[0], self.weight.shape()[1]);
let mut one_hot = Tensor::zeros(vec![b * l, v]);
for (i, &token) in tokens.iter().enumerate() {
    one_hot[[i, token as usize]] = 1.0;
}
reshape(&tiny_llm_formats::matmul(&one_hot, &self.weight), &[b, l, e])
