//! id: flash-inf-minus-inf
//! function: OnlineSoftmax::absorb
//! says: As long as every score was −∞ the maximum is −∞, and −∞ − (−∞) is no number: leave early, with weights of 0 and a factor of 1.
        let max = scores.iter().fold(self.max, |m, &s| m.max(s));
        let factor = (self.max - max).exp();
        self.total = self.total * factor + exp_sum(scores, max);
        self.max = max;
        factor
