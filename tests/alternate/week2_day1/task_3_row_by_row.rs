//! function: Model::forward
//! how: one row after the other through all layers: a decode step for each
let c = &self.config;
let e = c.hidden_size;
let mut logits = Vec::new();
for row in rows {
    let one = [*row];
    work.x.resize(e, 0.0);
    decode_row(&self.embedding, row.token as usize, &mut work.x);
    for (i, layer) in self.layers.iter().enumerate() {
        self.attention(i, &one, cache, plan, work);
        add_rows(&mut work.x, &work.delta, e, plan);
        self.mlp(layer, plan, work);
        add_rows(&mut work.x, &work.delta, e, plan);
    }
    cache.advance(row.sequence, row.position);
    if row.logits {
        work.input.resize(1, e);
        rms_norm(&work.x, &self.norm, c.rms_norm_eps, &mut work.input.values);
        work.logits.resize(c.vocab_size, 0.0);
        plan.matmul(self.lm_head.as_ref().unwrap_or(&self.embedding), &mut work.input, &mut work.logits);
        logits.extend_from_slice(&work.logits);
    }
}
work.logits = logits;
&work.logits
