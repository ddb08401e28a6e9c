//! id: ctor-arg-swap
//! function: split_heads
//! says: You cut the H·D numbers into D heads of size H: it must be H heads of size D.
    let [b, l, width] = *x.shape() else { panic!("split_heads needs [B, L, H·D], got {:?}", x.shape()) };
    swap_axes(&reshape(x, &[b, l, width / n_heads, n_heads]), 1, 2)
