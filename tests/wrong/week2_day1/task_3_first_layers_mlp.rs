//! id: mlp-of-layer-0
//! function: Model::forward
//! says: Every layer runs the first layer’s MLP.
let c = &self.config;
let (n, e) = (rows.len(), c.hidden_size);
let _pass = plan.team.enter();
work.x.resize(n * e, 0.0);
plan.team.parallel_rows(&mut work.x, e, 1, |t, x| decode_row(&self.embedding, rows[t].token as usize, x));
for (i, layer) in self.layers.iter().enumerate() {
    self.attention(i, rows, cache, plan, work);
    add_rows(&mut work.x, &work.delta, e, plan);
    self.mlp({
        let _ = layer;
        &self.layers[0]
    }, n, plan, work);
    add_rows(&mut work.x, &work.delta, e, plan);
}
for row in rows {
    cache.advance(row.sequence, row.position);
}
// Only the rows that are asked for go through the head.
let wanted = rows.iter().filter(|row| row.logits).count();
work.input.resize(wanted, e);
let x = work.x.chunks_exact(e).zip(rows).filter(|(_, row)| row.logits);
for ((x, _), out) in x.zip(work.input.values.chunks_exact_mut(e)) {
    rms_norm(x, &self.norm, c.rms_norm_eps, out);
}
work.logits.resize(wanted * c.vocab_size, 0.0);
plan.matmul(self.lm_head.as_ref().unwrap_or(&self.embedding), &mut work.input, &mut work.logits);
&work.logits
