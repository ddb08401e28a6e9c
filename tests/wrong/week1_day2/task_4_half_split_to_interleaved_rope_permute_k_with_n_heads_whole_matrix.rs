//! id: rope-permute-k-with-n_heads
//! function: half_split_to_interleaved
//! says: Permute within each head.
    let [rows, width] = *weight.shape() else { panic!() };
    let _ = n_heads; let pairs = reshape(weight, &[2, rows / 2, width]); reshape(&swap_axes(&pairs, 0, 1), &[rows, width])
