//! id: missing-top-k
//! function: Sampler::choose
//! says: `choose` leaves top-k out.
        let SamplerOptions { temperature, top_p: nucleus, min_p: ratio, repetition_penalty: penalty, .. } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        apply_temperature(&mut logits, temperature);
        top_p(&mut logits, nucleus);
        min_p(&mut logits, ratio);
        draw(&logits, self.rng.uniform())
