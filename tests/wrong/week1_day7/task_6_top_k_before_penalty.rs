//! id: order-top-k-before-penalty
//! function: Sampler::choose
//! says: Your top-k comes before the penalty, so it keeps tokens that the penalty would have lowered; the penalty is the first step.
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, min_p: ratio, repetition_penalty: penalty } = self.options;
        let mut logits = logits.to_vec();
        top_k(&mut logits, k);
        repetition_penalty(&mut logits, seen, penalty);
        apply_temperature(&mut logits, temperature);
        top_p(&mut logits, nucleus);
        min_p(&mut logits, ratio);
        draw(&logits, self.rng.uniform())
