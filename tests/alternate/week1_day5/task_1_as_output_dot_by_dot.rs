//! function: Embedding::as_output
//! how: a dot product in f64 for each token
let mut shape = x.shape().to_vec();
*shape.last_mut().expect("an axis") = self.weight.shape()[0];
let dot = |x: &[f32], row: &[f32]| x.iter().zip(row).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum::<f64>() as f32;
let rows: Vec<Vec<f32>> = self.weight.rows().into_iter().map(|row| row.to_vec()).collect();
let values = x.rows().into_iter().flat_map(|x| rows.iter().map(|row| dot(&x.to_vec(), row)).collect::<Vec<_>>()).collect();
tiny_llm_formats::tensor::tensor(&shape, values)
