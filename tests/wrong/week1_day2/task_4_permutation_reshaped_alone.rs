//! id: rope-gguf-permute-missed
//! function: half_split_to_interleaved
//! says: The rows are still in the order they came in: a reshape moves nothing, swap axes 1 and 2 of [n_heads, 2, D/2, E].
    let [rows, width] = *weight.shape() else { panic!("a projection has two axes, got {:?}", weight.shape()) };
    let head_dim = rows / n_heads;
    let pairs = reshape(weight, &[n_heads, 2, head_dim / 2, width]);
    reshape(&reshape(&pairs, &[n_heads, head_dim / 2, 2, width]), &[rows, width])
