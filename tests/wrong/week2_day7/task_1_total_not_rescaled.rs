//! id: flash-no-rescale
//! function: OnlineSoftmax::absorb
//! says: The total keeps the old maximum's scale: multiply it by the factor before you add the new weights.
        let max = scores.iter().fold(self.max, |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            // Nothing is visible yet; −∞ − (−∞) would be NaN.
            scores.fill(0.0);
            return 1.0;
        }
        let factor = (self.max - max).exp();
        self.total += exp_sum(scores, max);
        self.max = max;
        factor
