//! rope-permute-k-with-n_heads: Permute within each head.
//! wrong body for week1-day2 task 4: rope.rs, half_split_to_interleaved
    let [rows, width] = *weight.shape() else { panic!() };
    let _ = n_heads; let pairs = reshape(weight, &[2, rows / 2, width]); reshape(&swap_axes(&pairs, 0, 1), &[rows, width])
