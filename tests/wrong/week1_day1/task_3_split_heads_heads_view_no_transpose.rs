//! id: heads-view-no-transpose
//! function: split_heads
//! says: Reshape to [B,L,H,D], then swap: a reshape moves nothing.
    let [b, l, width] = *x.shape() else { panic!() };
    reshape(x, &[b, n_heads, l, width / n_heads])
