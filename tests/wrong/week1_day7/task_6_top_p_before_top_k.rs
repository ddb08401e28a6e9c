//! id: order-top-p-before-top-k
//! function: Sampler::choose
//! says: Your top-p comes before top-k; after it, it counts the mass of what top-k left as 1.
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, min_p: ratio, repetition_penalty: penalty } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        apply_temperature(&mut logits, temperature);
        top_p(&mut logits, nucleus);
        top_k(&mut logits, k);
        min_p(&mut logits, ratio);
        draw(&logits, self.rng.uniform())
