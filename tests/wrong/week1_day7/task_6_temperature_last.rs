//! id: order-temperature-last
//! function: Sampler::choose
//! says: Your temperature comes last, after the cuts; here it comes before them, as in `transformers`, and moves the borders of top-p and min-p.
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, min_p: ratio, repetition_penalty: penalty } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        top_k(&mut logits, k);
        top_p(&mut logits, nucleus);
        min_p(&mut logits, ratio);
        apply_temperature(&mut logits, temperature);
        draw(&logits, self.rng.uniform())
