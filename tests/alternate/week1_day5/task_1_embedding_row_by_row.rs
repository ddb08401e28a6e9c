//! function: Embedding::forward
//! how: an explicit loop that copies rows
let (b, l) = tokens.dim();
let mut out = Tensor::zeros(vec![b, l, self.weight.shape()[1]]);
for ((i, j), &token) in tokens.indexed_iter() {
    let row = self.weight.index_axis(Axis(0), token as usize);
    out.index_axis_mut(Axis(0), i).index_axis_mut(Axis(0), j).assign(&row);
}
out
