//! function: merge_heads
//! how: the heads are put side by side one after the other
    let heads: Vec<_> = x.axis_iter(Axis(1)).collect();
    ndarray::concatenate(Axis(2), &heads).expect("heads of one shape")
