//! id: heads-merge-no-transpose
//! function: merge_heads
//! says: Swap heads back behind L before flattening.
    let [b, h, l, d] = *x.shape() else { panic!() };
    reshape(x, &[b, l, h * d])
