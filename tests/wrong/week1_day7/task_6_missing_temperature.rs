//! id: missing-temperature
//! function: Sampler::choose
//! says: `choose` leaves the temperature out.
        let SamplerOptions { top_k: k, top_p: nucleus, min_p: ratio, repetition_penalty: penalty, .. } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        top_k(&mut logits, k);
        top_p(&mut logits, nucleus);
        min_p(&mut logits, ratio);
        draw(&logits, self.rng.uniform())
