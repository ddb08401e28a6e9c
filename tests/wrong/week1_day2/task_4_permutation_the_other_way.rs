//! id: rope-gguf-permute-missed
//! function: half_split_to_interleaved
//! says: You go the other way, from interleaved to half-split: within a head, row i goes to 2i and row i + D/2 to 2i + 1.
    let [rows, width] = *weight.shape() else { panic!("a projection has two axes, got {:?}", weight.shape()) };
    let head_dim = rows / n_heads;
    let pairs = reshape(weight, &[n_heads, head_dim / 2, 2, width]);
    reshape(&swap_axes(&pairs, 1, 2), &[rows, width])
