//! function: OnlineSoftmax::absorb
//! how: exponentials and sums in f64
        let max = scores.iter().fold(self.max, |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            // Nothing is visible yet; −∞ − (−∞) would be NaN.
            scores.fill(0.0);
            return 1.0;
        }
        let factor = (f64::from(self.max) - f64::from(max)).exp() as f32;
        self.total = self.total * factor + {
            let mut sum = 0.0;
            for score in scores.iter_mut() {
                let weight = (f64::from(*score) - f64::from(max)).exp();
                *score = weight as f32;
                sum += weight;
            }
            sum as f32
        };
        self.max = max;
        factor
