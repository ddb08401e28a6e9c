//! id: missing-penalty
//! function: Sampler::choose
//! says: Your penalty has no say in which tokens stay: it is missing, or comes after the cuts; it is the first step.
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, min_p: ratio, .. } = self.options;
        let mut logits = logits.to_vec();
        apply_temperature(&mut logits, temperature);
        top_k(&mut logits, k);
        top_p(&mut logits, nucleus);
        min_p(&mut logits, ratio);
        draw(&logits, self.rng.uniform())
