//! id: accum-not-zeroed
//! function: scaled_dot_product_attention
//! says: Zero before accumulating.
    thread_local!(static OUT: std::cell::RefCell<Option<Tensor>> = const { std::cell::RefCell::new(None) });
    let scale = scale.unwrap_or(1.0 / (q.shape()[q.ndim() - 1] as f32).sqrt());
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask { scores = scores + mask; }
    let out = matmul(&softmax(&scores), v);
    OUT.with_borrow_mut(|buffer| {
        let sum = match buffer.take() { Some(old) if old.shape() == out.shape() => old + &out, _ => out };
        *buffer = Some(sum.clone());
        sum
    })
