//! id: flash-rescale-after-add
//! function: OnlineSoftmax::absorb
//! says: You multiply the new weights by the factor too: it belongs to the old total alone. (At the first scores it is 0, so your total is 0.)
        let max = scores.iter().fold(self.max, |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            // Nothing is visible yet; −∞ − (−∞) would be NaN.
            scores.fill(0.0);
            return 1.0;
        }
        let factor = (self.max - max).exp();
        self.total = (self.total + exp_sum(scores, max)) * factor;
        self.max = max;
        factor
