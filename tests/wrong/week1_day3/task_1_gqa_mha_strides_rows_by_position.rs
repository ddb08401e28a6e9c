//! id: gqa-mha-strides
//! function: grouped_query_attention
//! says: H comes before S.
    let [b, h_q, l, d] = *q.shape() else { panic!() };
    let [_, h, s, _] = *k.shape() else { panic!() };
    assert!(h_q % h == 0);
    let _ = l;
    let read = |x: &Tensor| Tensor::from_shape_fn(IxDyn(&[b, h_q, s, d]), |at| {
        x.as_slice().unwrap()[((at[0] * s + at[2]) * h + at[1] / (h_q / h)) * d + at[3]]
    });
    scaled_dot_product_attention(q, &read(k), &read(v), scale, mask)
