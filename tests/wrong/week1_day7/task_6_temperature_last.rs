//! id: order-temperature-last
//! function: Sampler::choose
//! says: Your temperature comes too late: min-p at least stands before it; here all cuts come after it, as in `transformers`.
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, min_p: ratio, repetition_penalty: penalty } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        top_k(&mut logits, k);
        top_p(&mut logits, nucleus);
        min_p(&mut logits, ratio);
        apply_temperature(&mut logits, temperature);
        draw(&logits, self.rng.uniform())
