//! id: flash-rescale-after-add
//! function: OnlineSoftmax::absorb
//! says: You multiply the new weights by the factor too: scale the old total first, then add.
        let max = scores.iter().fold(self.max, |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            // Nothing is visible yet; −∞ − (−∞) would be NaN.
            scores.fill(0.0);
            return 1.0;
        }
        let factor = (self.max - max).exp();
        self.total = (self.total + exp_sum(scores, max)) * if self.total == 0.0 { 1.0 } else { factor };
        self.max = max;
        factor
