//! function: Model::forward
//! how: one sequence of the batch after the other, with a mask of four axes
let length = tokens.ncols();
let mask = reshape(&causal_mask(length, length), &[1, 1, length, length]);
let parts: Vec<Tensor> = tokens
    .rows()
    .into_iter()
    .map(|row| {
        let mut x = self.embedding.forward(&row.insert_axis(Axis(0)).to_owned());
        for block in &self.blocks {
            x = block.forward(&x, Some(&mask));
        }
        let x = self.norm.forward(&x);
        self.lm_head.as_ref().map_or_else(|| self.embedding.as_output(&x), |head| head.forward(&x))
    })
    .collect();
let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
ndarray::concatenate(Axis(0), &views).expect("parts of one shape")
