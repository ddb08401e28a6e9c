//! id: flash-total-of-scores
//! function: OnlineSoftmax::absorb
//! says: The total counts scores, not weights: `exp_sum` returns the sum to add.
        let max = scores.iter().fold(self.max, |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            // Nothing is visible yet; −∞ − (−∞) would be NaN.
            scores.fill(0.0);
            return 1.0;
        }
        let factor = (self.max - max).exp();
        let sum: f32 = scores.iter().sum();
        exp_sum(scores, max);
        self.total = self.total * factor + sum;
        self.max = max;
        factor
