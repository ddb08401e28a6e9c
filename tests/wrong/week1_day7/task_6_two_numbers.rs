//! id: rng-two-numbers
//! function: Sampler::choose
//! says: Your tokens are those of every second number: use one number per token.
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, min_p: ratio, repetition_penalty: penalty } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        apply_temperature(&mut logits, temperature);
        top_k(&mut logits, k);
        top_p(&mut logits, nucleus);
        min_p(&mut logits, ratio);
        self.rng.next_u64();
        draw(&logits, self.rng.uniform())
