//! id: head-chunk-by-count
//! function: split_heads
//! says: Neighbouring numbers belong to one head.
    let [b, l, width] = *x.shape() else { panic!() };
    let y = reshape(x, &[b, l, width / n_heads, n_heads]);
    swap_axes(&swap_axes(&y, 2, 3), 1, 2)
