//! function: grouped_query_attention
//! how: a loop over sequences and query heads, each with two axes
    let [b, h_q, l, d] = *q.shape() else { panic!("q must be [B, H_q, L, D], got {:?}", q.shape()) };
    let [_, h, s, _] = *k.shape() else { panic!("k must be [B, H, S, D], got {:?}", k.shape()) };
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let mut out = Tensor::zeros(IxDyn(&[b, h_q, l, d]));
    let mask = mask.map(|mask| mask.broadcast(IxDyn(&[b, h_q, l, s])).expect("the mask broadcasts").to_owned());
    let matrix = |x: &Tensor, i: usize, j: usize| x.index_axis(ndarray::Axis(0), i).index_axis(ndarray::Axis(0), j).to_owned();
    for i in 0..b {
        for j in 0..h_q {
            let shared = j / (h_q / h);
            let mask = mask.as_ref().map(|mask| matrix(mask, i, j));
            let head = scaled_dot_product_attention(&matrix(q, i, j), &matrix(k, i, shared), &matrix(v, i, shared), scale, mask.as_ref());
            out.index_axis_mut(ndarray::Axis(0), i).index_axis_mut(ndarray::Axis(0), j).assign(&head);
        }
    }
    out
