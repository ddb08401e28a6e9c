//! ctor-arg-swap: You have `hidden` heads of size `heads`.
//! wrong body for week1-day1 task 3: attention.rs, split_heads
    let [b, l, width] = *x.shape() else { panic!() };
    swap_axes(&reshape(x, &[b, l, width / n_heads, n_heads]), 1, 2)
