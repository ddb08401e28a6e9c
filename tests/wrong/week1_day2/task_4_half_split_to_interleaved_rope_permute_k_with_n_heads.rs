//! id: rope-permute-k-with-n_heads
//! function: half_split_to_interleaved
//! says: Permute wk by its own heads.
    let [rows, width] = *weight.shape() else { panic!() };
    let pairs = reshape(weight, &[2 * n_heads, 2, rows / n_heads / 4, width]); reshape(&swap_axes(&pairs, 1, 2), &[rows, width])
