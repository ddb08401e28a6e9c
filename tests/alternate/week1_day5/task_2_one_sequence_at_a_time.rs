//! function: TransformerBlock::forward
//! how: one sequence of the batch after the other
let parts: Vec<Tensor> = (0..x.shape()[0])
    .map(|b| {
        let x = x.select(Axis(0), &[b]);
        let mask = mask.map(|mask| if mask.ndim() == 4 && mask.shape()[0] > 1 { mask.select(Axis(0), &[b]) } else { mask.clone() });
        let x = &x + &self.attention.forward(&self.input_norm.forward(&x), mask.as_ref());
        let mlp = self.mlp.forward(&self.post_attention_norm.forward(&x));
        x + mlp
    })
    .collect();
let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
ndarray::concatenate(Axis(0), &views).expect("parts of one shape")
