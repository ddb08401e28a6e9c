//! id: flash-scores-not-weights
//! function: OnlineSoftmax::absorb
//! says: You count the weights into the total but leave the scores as they are: each must become its weight, in place.
        let max = scores.iter().fold(self.max, |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            // Nothing is visible yet; −∞ − (−∞) would be NaN.
            scores.fill(0.0);
            return 1.0;
        }
        let factor = (self.max - max).exp();
        self.total = self.total * factor + scores.iter().map(|s| (s - max).exp()).sum::<f32>();
        self.max = max;
        factor
