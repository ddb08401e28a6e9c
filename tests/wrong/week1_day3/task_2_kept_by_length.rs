//! id: mask-cached-by-len
//! function: causal_mask
//! says: You keep masks by L alone: the mask of an earlier call with another S is not the one that is asked for.
//! shows: of an earlier call: a mask that is kept for later must be kept by L and by S
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    thread_local!(static MASKS: std::cell::RefCell<std::collections::HashMap<usize, Tensor>> = std::cell::RefCell::default());
    let make = || Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| if at[1] <= keys - length + at[0] { 0.0 } else { f32::NEG_INFINITY });
    MASKS.with_borrow_mut(|masks| masks.entry(length).or_insert_with(make).clone())
