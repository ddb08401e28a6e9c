//! function: Sampler::choose
//! how: leaves out what is off; takes the number first
        let uniform = self.rng.uniform();
        let options = &self.options;
        let mut row = logits.to_vec();
        if options.repetition_penalty != 1.0 {
            repetition_penalty(&mut row, seen, options.repetition_penalty);
        }
        if options.temperature == 0.0 {
            return argmax(&row);
        }
        apply_temperature(&mut row, options.temperature);
        if options.top_k > 0 {
            top_k(&mut row, options.top_k);
        }
        if options.top_p < 1.0 {
            top_p(&mut row, options.top_p);
        }
        if options.min_p > 0.0 {
            min_p(&mut row, options.min_p);
        }
        draw(&row, uniform)
