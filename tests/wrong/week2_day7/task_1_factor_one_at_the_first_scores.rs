//! id: flash-no-rescale
//! function: OnlineSoftmax::absorb
//! says: You return 1 where the maximum has grown, be it from −∞ at the first scores: sums weighted by the old maximum must be multiplied by e^(old max − new max).
        let max = scores.iter().fold(self.max, |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            // Nothing is visible yet; −∞ − (−∞) would be NaN.
            scores.fill(0.0);
            return 1.0;
        }
        let factor = if self.max == f32::NEG_INFINITY { 1.0 } else { (self.max - max).exp() };
        self.total = self.total * factor + exp_sum(scores, max);
        self.max = max;
        factor
