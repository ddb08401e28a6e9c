//! id: rope-permute-k-with-n_heads
//! function: half_split_to_interleaved
//! says: Rows wander from one head into another: the permutation stays within each of the n_heads heads.
    let [rows, width] = *weight.shape() else { panic!("a projection has two axes, got {:?}", weight.shape()) };
    let pairs = reshape(weight, &[1, 2, rows / 2, width]);
    reshape(&swap_axes(&pairs, 1, 2), &[rows, width])
