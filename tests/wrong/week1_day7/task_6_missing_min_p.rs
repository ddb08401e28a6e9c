//! id: missing-min-p
//! function: Sampler::choose
//! says: `choose` leaves min-p out.
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, repetition_penalty: penalty, .. } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        apply_temperature(&mut logits, temperature);
        top_k(&mut logits, k);
        top_p(&mut logits, nucleus);
        draw(&logits, self.rng.uniform())
