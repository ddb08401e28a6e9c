//! A histogram of times. Its memory does not grow with the number of times.

/// Counts times in classes. Each class is for times 1 % longer than the one before. The first is
/// for 1 µs.
#[derive(Debug, Clone, Default)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

const SMALLEST: f64 = 1e-6;
const STEP: f64 = 1.01;

impl Histogram {
    /// Counts a time in seconds.
    pub(super) fn add(&mut self, seconds: f64) {
        let class = (seconds.max(SMALLEST) / SMALLEST).ln() / STEP.ln();
        let class = class.round() as usize;
        if class >= self.counts.len() {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] += 1;
        self.total += 1;
    }

    /// Returns the time that the fraction `share` of the times does not exceed, to within 0.5 %.
    /// Returns NaN if there are no times.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        let wanted = (share * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (class, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return SMALLEST * STEP.powi(class as i32);
            }
        }
        f64::NAN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        let mut histogram = Histogram::default();
        assert!(histogram.quantile(0.5).is_nan());
        for i in 1..=1000 {
            histogram.add(f64::from(i) * 1e-3);
        }
        for (share, expected) in [(0.5, 0.5), (0.99, 0.99), (1.0, 1.0), (0.0, 0.001)] {
            let found = histogram.quantile(share);
            assert!((found / expected - 1.0).abs() < 0.006, "{share}: {found}");
        }
    }
}
