//! id: penalty-off-at-zero
//! function: Sampler::choose
//! says: At temperature 0 your penalty has no effect: it is left out there, or comes after the largest logit was chosen.
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, min_p: ratio, repetition_penalty: penalty } = self.options;
        let mut logits = logits.to_vec();
        if temperature > 0.0 {
            repetition_penalty(&mut logits, seen, penalty);
        }
        apply_temperature(&mut logits, temperature);
        top_k(&mut logits, k);
        top_p(&mut logits, nucleus);
        min_p(&mut logits, ratio);
        draw(&logits, self.rng.uniform())
