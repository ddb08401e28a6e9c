//! id: options-exchanged
//! function: Sampler::choose
//! says: Top-p gets the value of min-p, and min-p that of top-p.
//! shows: rules out all others although every other step is off
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, min_p: ratio, repetition_penalty: penalty } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        apply_temperature(&mut logits, temperature);
        top_k(&mut logits, k);
        top_p(&mut logits, ratio);
        min_p(&mut logits, nucleus);
        draw(&logits, self.rng.uniform())
