//! function: MultiHeadAttention::forward
//! how: see the name
        let d = self.q_proj.shape()[0] / self.n_heads;
        let (b, l) = (query.shape()[0], query.shape()[1]);
        let mut out = Tensor::zeros(ndarray::IxDyn(&[b, l, self.n_heads * d]));
        for n in 0..b { for h in 0..self.n_heads {
            let rows: Vec<usize> = (h * d..(h + 1) * d).collect();
            let project = |x: &Tensor, w: &Tensor| linear(&x.index_axis(Axis(0), n).to_owned(), &w.select(Axis(0), &rows), None);
            let (q, k, v) = (project(query, &self.q_proj), project(key, &self.k_proj), project(value, &self.v_proj));
            let m = mask.map(|m| m.broadcast(ndarray::IxDyn(&[b, self.n_heads, l, key.shape()[1]])).unwrap().index_axis(Axis(0), n).index_axis(Axis(0), h).to_owned());
            let y = scaled_dot_product_attention(&q, &k, &v, None, m.as_ref());
            for i in 0..l { for e in 0..d { out[[n, i, h * d + e]] = y[[i, e]]; } }
        } }
        linear(&out, &self.o_proj, None)
