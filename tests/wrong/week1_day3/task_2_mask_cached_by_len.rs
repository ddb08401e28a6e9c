//! id: mask-cached-by-len
//! function: causal_mask
//! says: The key needs S.
    assert!(length <= keys);
    thread_local!(static MASKS: std::cell::RefCell<std::collections::HashMap<usize, Tensor>> = std::cell::RefCell::default());
    MASKS.with_borrow_mut(|masks| {
        masks.entry(length).or_insert_with(|| Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| if at[1] <= keys - length + at[0] { 0.0 } else { f32::NEG_INFINITY })).clone()
    })
