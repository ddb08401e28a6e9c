//! id: rng-no-number-at-zero
//! function: Sampler::choose
//! says: At temperature 0 you use no number; each token takes one, whatever the temperature.
//! shows: a token takes one number at temperature 0 too
        let SamplerOptions { temperature, top_k: k, top_p: nucleus, min_p: ratio, repetition_penalty: penalty } = self.options;
        let mut logits = logits.to_vec();
        repetition_penalty(&mut logits, seen, penalty);
        if temperature == 0.0 {
            return argmax(&logits);
        }
        apply_temperature(&mut logits, temperature);
        top_k(&mut logits, k);
        top_p(&mut logits, nucleus);
        min_p(&mut logits, ratio);
        draw(&logits, self.rng.uniform())
