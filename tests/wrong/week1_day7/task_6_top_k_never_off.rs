//! id: topk-never-off
//! function: Sampler::choose
//! says: You never let top-k be off: at 0 it keeps one token, where it keeps all.
//! shows: rules out all others although every other step is off
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, min_p: ratio, repetition_penalty: penalty } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        apply_temperature(&mut logits, temperature);
        top_k(&mut logits, k.max(1));
        top_p(&mut logits, nucleus);
        min_p(&mut logits, ratio);
        draw(&logits, self.rng.uniform())
