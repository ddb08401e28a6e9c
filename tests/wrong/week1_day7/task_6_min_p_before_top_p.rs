//! id: order-min-p-before-top-p
//! function: Sampler::choose
//! says: Your min-p comes before top-p, so top-p counts as 1 what min-p left; it is the last step before the draw.
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, min_p: ratio, repetition_penalty: penalty } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        apply_temperature(&mut logits, temperature);
        top_k(&mut logits, k);
        min_p(&mut logits, ratio);
        top_p(&mut logits, nucleus);
        draw(&logits, self.rng.uniform())
