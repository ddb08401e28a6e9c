//! id: flash-max-from-zero
//! function: OnlineSoftmax::absorb
//! says: Your maximum is never below 0: where all scores are far below it, every weight and the total come out tiny, and at −120 they are 0.
        let max = scores.iter().fold(self.max.max(0.0), |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            // Nothing is visible yet; −∞ − (−∞) would be NaN.
            scores.fill(0.0);
            return 1.0;
        }
        let factor = (self.max - max).exp();
        self.total = self.total * factor + exp_sum(scores, max);
        self.max = max;
        factor
