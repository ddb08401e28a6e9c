//! id: ctor-arg-swap
//! function: split_heads
//! says: You have `hidden` heads of size `heads`.
    let [b, l, width] = *x.shape() else { panic!() };
    swap_axes(&reshape(x, &[b, l, width / n_heads, n_heads]), 1, 2)
