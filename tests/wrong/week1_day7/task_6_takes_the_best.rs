//! id: sampler-greedy
//! function: Sampler::choose
//! says: You take the most probable token; the token is to be drawn.
//! shows: the sampler's generator has not moved on by 1000 numbers
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, min_p: ratio, repetition_penalty: penalty } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        apply_temperature(&mut logits, temperature);
        top_k(&mut logits, k);
        top_p(&mut logits, nucleus);
        min_p(&mut logits, ratio);
        argmax(&logits)
