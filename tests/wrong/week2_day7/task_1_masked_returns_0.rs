//! id: flash-masked-factor
//! function: OnlineSoftmax::absorb
//! says: As long as every score was −∞ you return 0: nothing has changed, so the factor is 1.
        let max = scores.iter().fold(self.max, |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            // Nothing is visible yet; −∞ − (−∞) would be NaN.
            scores.fill(0.0);
            return 0.0;
        }
        let factor = (self.max - max).exp();
        self.total = self.total * factor + exp_sum(scores, max);
        self.max = max;
        factor
