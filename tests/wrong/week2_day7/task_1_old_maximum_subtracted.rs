//! id: flash-old-max
//! function: OnlineSoftmax::absorb
//! says: You subtract the maximum from before this piece: a piece that holds a new maximum gets weights above 1.
        let max = scores.iter().fold(self.max, |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            // Nothing is visible yet; −∞ − (−∞) would be NaN.
            scores.fill(0.0);
            return 1.0;
        }
        let factor = (self.max - max).exp();
        self.total = self.total * factor + exp_sum(scores, if self.max == f32::NEG_INFINITY { max } else { self.max });
        self.max = max;
        factor
