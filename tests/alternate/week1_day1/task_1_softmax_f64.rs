//! function: softmax
//! how: each row in f64, by iterators over a flat vector
    let width = x.shape()[x.ndim() - 1];
    let values: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
    let rows = values.chunks(width.max(1)).flat_map(|row| {
        let max = row.iter().copied().fold(f64::MIN, f64::max);
        let e: Vec<f64> = row.iter().map(|v| (v - max).exp()).collect();
        let sum: f64 = e.iter().sum();
        e.into_iter().map(move |e| if sum == 0.0 { 0.0 } else { (e / sum) as f32 })
    });
    Tensor::from_shape_vec(x.raw_dim(), rows.collect()).expect("as many values as x")
