//! id: flash-no-rescale
//! function: OnlineSoftmax::absorb
//! says: Your factor is e^(new max − old max): sums weighted by the old maximum must become smaller, by e^(old max − new max).
        let max = scores.iter().fold(self.max, |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            // Nothing is visible yet; −∞ − (−∞) would be NaN.
            scores.fill(0.0);
            return 1.0;
        }
        let factor = (max - self.max).exp();
        self.total = self.total * factor + exp_sum(scores, max);
        self.max = max;
        factor
