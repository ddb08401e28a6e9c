//! rope-gguf-permute-missed: You turned interleaved into half-split.
//! wrong body for week1-day2 task 4: rope.rs, half_split_to_interleaved
    let [rows, width] = *weight.shape() else { panic!() };
    let pairs = reshape(weight, &[n_heads, rows / n_heads / 2, 2, width]); reshape(&swap_axes(&pairs, 1, 2), &[rows, width])
