//! id: order-temperature-after-top-p
//! function: Sampler::choose
//! says: Your temperature comes after top-p, which then looks at the model's own distribution; here the cuts come after the temperature.
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, min_p: ratio, repetition_penalty: penalty } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        top_k(&mut logits, k);
        top_p(&mut logits, nucleus);
        apply_temperature(&mut logits, temperature);
        min_p(&mut logits, ratio);
        draw(&logits, self.rng.uniform())
