//! function: MultiHeadAttention::forward
//! how: each sequence and each head on its own, with its rows of the weights
        let (b, l) = (query.shape()[0], query.shape()[1]);
        let (h, d) = (self.n_heads, self.q_proj.shape()[0] / self.n_heads);
        let mut merged = Tensor::zeros(vec![b, l, h * d]);
        for n in 0..b {
            for head in 0..h {
                let rows: Vec<usize> = (head * d..(head + 1) * d).collect();
                let project = |x: &Tensor, weight: &Tensor| linear(&x.index_axis(Axis(0), n).to_owned(), &weight.select(Axis(0), &rows), None);
                let (q, k, v) = (project(query, &self.q_proj), project(key, &self.k_proj), project(value, &self.v_proj));
                let mask = mask.map(|mask| {
                    let mask = mask.broadcast(vec![b, h, l, key.shape()[1]]).expect("the mask broadcasts");
                    mask.index_axis(Axis(0), n).index_axis(Axis(0), head).to_owned()
                });
                let out = scaled_dot_product_attention(&q, &k, &v, None, mask.as_ref());
                for i in 0..l {
                    for e in 0..d {
                        merged[[n, i, head * d + e]] = out[[i, e]];
                    }
                }
            }
        }
        linear(&merged, &self.o_proj, None)
