//! id: flash-max-of-piece
//! function: OnlineSoftmax::absorb
//! says: You take the maximum of the new scores alone: weights must be relative to the largest of all scores so far.
        let max = scores.iter().fold(f32::NEG_INFINITY, |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            // Nothing is visible yet; −∞ − (−∞) would be NaN.
            scores.fill(0.0);
            return 1.0;
        }
        let factor = (self.max - max).exp();
        self.total = self.total * factor + exp_sum(scores, max);
        self.max = max;
        factor
