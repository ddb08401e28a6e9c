//! function: Model::attention
//! how: rows attend one by one, before the next is stored; norm and RoPE by hand
let (c, layer) = (&self.config, &self.layers[index]);
let (n, d, group) = (rows.len(), c.head_dim, c.n_heads / c.n_kv_heads);
let (q_size, kv_size) = (c.n_heads * d, c.n_kv_heads * d);
let projections = [&layer.q_proj, &layer.k_proj, &layer.v_proj].map(|linear| &linear.weight);
let norm = &layer.attention_norm;
let input = self.normalised(&work.x, norm, &projections, plan, &mut work.input);
work.q.resize(n * q_size, 0.0);
work.k.resize(n * kv_size, 0.0);
work.v.resize(n * kv_size, 0.0);
for (linear, out) in [(&layer.q_proj, &mut work.q), (&layer.k_proj, &mut work.k), (&layer.v_proj, &mut work.v)] {
    plan.product(&linear.weight, input, out);
    plan.add_bias(linear, out);
}
for (x, norm, size) in [(&mut work.q, &layer.q_norm, q_size), (&mut work.k, &layer.k_norm, kv_size)] {
    plan.team.parallel_rows(x, size, ROWS, |t, x| {
        if let Some(norm) = norm {
            x.chunks_exact_mut(d).for_each(|head| rms_norm_in_place(head, norm, c.rms_norm_eps));
        }
        self.rope.rotate(x, rows[t].position, self.rope_layout);
    });
}
work.input.resize(n, q_size);
for t in 0..n {
    let row = rows[t];
    cache.write(index, row.sequence, row.position, &work.k[t * kv_size..][..kv_size], &work.v[t * kv_size..][..kv_size]);
    let (q, out) = (&work.q[t * q_size..][..q_size], &mut work.input.values[t * q_size..][..q_size]);
    let queries = Queries { rows: &rows[t..t + 1], q, group, head_dim: d };
    attend(plan, cache, index, queries, out);
}
work.delta.resize(n * c.hidden_size, 0.0);
plan.matmul(&layer.o_proj.weight, &mut work.input, &mut work.delta);
plan.add_bias(&layer.o_proj, &mut work.delta);
