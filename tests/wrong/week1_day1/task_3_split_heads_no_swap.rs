//! id: heads-view-no-transpose
//! function: split_heads
//! says: You reshape to [B, H, L, D] at once, and a reshape moves nothing: go to [B, L, H, D], then swap axes 1 and 2.
    let [b, l, width] = *x.shape() else { panic!("split_heads needs [B, L, H·D], got {:?}", x.shape()) };
    reshape(x, &[b, n_heads, l, width / n_heads])
