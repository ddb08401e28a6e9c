//! id: softmax-no-max
//! function: OnlineSoftmax::absorb
//! says: You take e^score without subtracting the maximum: scores of a hundred overflow.
        let max = scores.iter().fold(self.max, |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            // Nothing is visible yet; −∞ − (−∞) would be NaN.
            scores.fill(0.0);
            return 1.0;
        }
        let factor = (self.max - max).exp();
        self.total = self.total * factor + exp_sum(scores, 0.0);
        self.max = max;
        factor
