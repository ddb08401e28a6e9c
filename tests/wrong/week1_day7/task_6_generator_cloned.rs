//! id: rng-cloned
//! function: Sampler::choose
//! says: Every token is drawn with the same number: the generator that advances must be the sampler's own, not a copy.
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, min_p: ratio, repetition_penalty: penalty } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        apply_temperature(&mut logits, temperature);
        top_k(&mut logits, k);
        top_p(&mut logits, nucleus);
        min_p(&mut logits, ratio);
        draw(&logits, self.rng.clone().uniform())
