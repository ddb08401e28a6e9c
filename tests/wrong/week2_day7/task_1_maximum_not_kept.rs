//! id: flash-max-not-kept
//! function: OnlineSoftmax::absorb
//! says: You do not store the new maximum, so the next piece starts from the old one.
        let max = scores.iter().fold(self.max, |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            // Nothing is visible yet; −∞ − (−∞) would be NaN.
            scores.fill(0.0);
            return 1.0;
        }
        let factor = (self.max - max).exp();
        self.total = self.total * factor + exp_sum(scores, max);
        factor
