//! id: heads-view-no-transpose
//! function: split_heads
//! says: Your heads stand behind the positions, in [B, L, H, D]: swap axes 1 and 2 to get [B, H, L, D].
    let [b, l, width] = *x.shape() else { panic!("split_heads needs [B, L, H·D], got {:?}", x.shape()) };
    reshape(x, &[b, l, n_heads, width / n_heads])
