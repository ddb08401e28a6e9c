//! function: Sampler::choose
//! how: top-k before the temperature, which changes no rank
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, min_p: ratio, repetition_penalty: penalty } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        top_k(&mut logits, k);
        apply_temperature(&mut logits, temperature);
        top_p(&mut logits, nucleus);
        min_p(&mut logits, ratio);
        draw(&logits, self.rng.uniform())
