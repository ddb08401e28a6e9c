//! id: heads-merge-no-transpose
//! function: merge_heads
//! says: You flatten [B, H, L, D] as it is, and a reshape moves nothing: swap H and L first, then reshape.
    let [b, h, l, d] = *x.shape() else { panic!("merge_heads needs [B, H, L, D], got {:?}", x.shape()) };
    reshape(x, &[b, l, h * d])
