//! id: sampler-greedy
//! function: Sampler::choose
//! says: Draw.
let o = self.options.clone();
    let mut l = logits.to_vec();
    repetition_penalty(&mut l, seen, o.repetition_penalty);
    apply_temperature(&mut l, o.temperature);
    top_k(&mut l, o.top_k);
    top_p(&mut l, o.top_p);
    min_p(&mut l, o.min_p);
    let _ = seen;
    argmax(&l)
