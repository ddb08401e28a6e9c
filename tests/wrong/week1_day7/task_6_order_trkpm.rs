//! id: order-trkpm
//! function: Sampler::choose
//! says: The order is penalty, temperature, top-k, top-p, min-p.
let o = self.options.clone();
    let mut l = logits.to_vec();
    apply_temperature(&mut l, o.temperature);
    repetition_penalty(&mut l, seen, o.repetition_penalty);
    top_k(&mut l, o.top_k);
    top_p(&mut l, o.top_p);
    min_p(&mut l, o.min_p);
    let _ = seen;
    draw(&l, self.rng.uniform())
