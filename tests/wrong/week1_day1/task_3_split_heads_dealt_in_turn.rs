//! id: head-chunk-by-count
//! function: split_heads
//! says: You deal the numbers out to the heads in turn: the D numbers of one head lie side by side.
    let [b, l, width] = *x.shape() else { panic!("split_heads needs [B, L, H·D], got {:?}", x.shape()) };
    // (B, L, D, H) -> (B, L, H, D) -> (B, H, L, D)
    let dealt = reshape(x, &[b, l, width / n_heads, n_heads]);
    swap_axes(&swap_axes(&dealt, 2, 3), 1, 2)
