//! id: output-cosine
//! function: Embedding::as_output
//! says: Your logits are dot products with rows of length 1: use the embedding's rows as they are.
let mut weight = self.weight.clone();
for mut row in weight.rows_mut() {
    let norm = row.fold(0.0f32, |sum, v| sum + v * v).sqrt();
    row /= norm;
}
linear(x, &weight, None)
