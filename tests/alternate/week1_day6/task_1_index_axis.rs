//! function: next_token_logits
//! how: the last row by its index along an axis
    let batch = Array2::from_shape_fn((1, tokens.len()), |(_, l)| tokens[l]);
    let logits = model.forward(&batch);
    let of_batch = logits.index_axis(ndarray::Axis(0), 0);
    of_batch.index_axis(ndarray::Axis(0), tokens.len() - 1).iter().copied().collect()
