//! id: order-rpktm
//! function: Sampler::choose
//! says: The order is penalty, temperature, top-k, top-p, min-p.
let o = self.options.clone();
    let mut l = logits.to_vec();
    repetition_penalty(&mut l, seen, o.repetition_penalty);
    top_p(&mut l, o.top_p);
    top_k(&mut l, o.top_k);
    apply_temperature(&mut l, o.temperature);
    min_p(&mut l, o.min_p);
    let _ = seen;
    draw(&l, self.rng.uniform())
