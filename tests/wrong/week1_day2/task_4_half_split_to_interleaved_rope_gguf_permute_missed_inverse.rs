//! id: rope-gguf-permute-missed
//! function: half_split_to_interleaved
//! says: You turned interleaved into half-split.
    let [rows, width] = *weight.shape() else { panic!() };
    let pairs = reshape(weight, &[n_heads, rows / n_heads / 2, 2, width]); reshape(&swap_axes(&pairs, 1, 2), &[rows, width])
