//! id: rng-two-numbers
//! function: Sampler::choose
//! says: One number per token.
let o = self.options.clone();
    let mut l = logits.to_vec();
    repetition_penalty(&mut l, seen, o.repetition_penalty);
    apply_temperature(&mut l, o.temperature);
    top_k(&mut l, o.top_k);
    top_p(&mut l, o.top_p);
    min_p(&mut l, o.min_p);
    let _ = seen;
    let _ = self.rng.uniform();
    draw(&l, self.rng.uniform())
