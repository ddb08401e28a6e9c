//! id: missing-top-p
//! function: Sampler::choose
//! says: `choose` leaves top-p out.
        let SamplerOptions { temperature, top_k: k, min_p: ratio, repetition_penalty: penalty, .. } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        apply_temperature(&mut logits, temperature);
        top_k(&mut logits, k);
        min_p(&mut logits, ratio);
        draw(&logits, self.rng.uniform())
