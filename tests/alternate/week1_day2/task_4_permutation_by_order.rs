//! function: half_split_to_interleaved
//! how: the new order as a list of rows
    let d = weight.shape()[0] / n_heads;
    let order: Vec<usize> = (0..n_heads).flat_map(|h| (0..d / 2).flat_map(move |i| [h * d + i, h * d + i + d / 2])).collect();
    weight.select(ndarray::Axis(0), &order)
