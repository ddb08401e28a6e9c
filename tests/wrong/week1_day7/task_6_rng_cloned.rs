//! id: rng-cloned
//! function: Sampler::choose
//! says: The generator must advance.
let o = self.options.clone();
    let mut l = logits.to_vec();
    repetition_penalty(&mut l, seen, o.repetition_penalty);
    apply_temperature(&mut l, o.temperature);
    top_k(&mut l, o.top_k);
    top_p(&mut l, o.top_p);
    min_p(&mut l, o.min_p);
    let _ = seen;
    draw(&l, self.rng.clone().uniform())
