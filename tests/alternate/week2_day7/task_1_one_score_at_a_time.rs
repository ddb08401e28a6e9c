//! function: OnlineSoftmax::absorb
//! how: the running maximum is moved score by score, and weights are taken at the end
        let before = self.max;
        for &score in scores.iter() {
            if score > self.max {
                self.total *= (self.max - score).exp();
                self.max = score;
            }
            if self.max > f32::NEG_INFINITY {
                self.total += (score - self.max).exp();
            }
        }
        if self.max == f32::NEG_INFINITY {
            scores.fill(0.0);
            return 1.0;
        }
        for score in scores.iter_mut() {
            *score = (*score - self.max).exp();
        }
        (before - self.max).exp()
