//! Estimates a step's time from its number of rows, using the measured times of earlier steps.

use crate::week3::draft_length::Costs;

/// Number of size classes of steps: 1 row, 2 rows, 3 to 4, 5 to 8, and so on. The last class has no
/// upper limit.
const SIZES: usize = 16;
/// Weight of a new measurement in a mean. The earlier measurements share the remaining weight.
const WEIGHT: f64 = 0.25;

/// Mean number of rows and mean time of the steps of one size class. Older steps weigh less.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Mean {
    rows: f64,
    seconds: f64,
}

/// A limit on a step's time: `factor` times the time of a step of `rows` rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeLimit {
    /// The limit, as a multiple of the time of a step of `rows` rows.
    pub factor: f64,
    /// Number of rows of the step whose time is multiplied by `factor`.
    pub rows: usize,
}

/// Measured times of steps, by their number of rows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepTimes([Option<Mean>; SIZES]);

impl StepTimes {
    /// Records the time of a step of `rows` rows. A time far above the mean was probably caused by
    /// another program, so it counts as at most twice the mean.
    pub fn observe(&mut self, rows: usize, seconds: f64) {
        let size = rows.max(1).next_power_of_two().ilog2() as usize;
        let rows = rows as f64;
        let new = Mean { rows, seconds };
        let mean = self.0[size.min(SIZES - 1)].get_or_insert(new);
        // A coarse clock may have measured 0.
        if mean.seconds <= 0.0 {
            *mean = new;
        }
        mean.seconds += WEIGHT * (seconds.min(2.0 * mean.seconds) - mean.seconds);
        mean.rows += WEIGHT * (rows - mean.rows);
    }

    /// Returns the maximum number of rows that a step may have within both time limits. `gap` is a
    /// multiple of the time of a step with only the decoding rows. `busy` is a multiple of the time
    /// of a step in which every batch slot decodes. Returns `None` before anything has been
    /// measured.
    ///
    /// Between two measured sizes, times are interpolated linearly. Above the largest measured
    /// size, the time is assumed to be proportional to the number of rows. That overestimates the
    /// time, so the first steps of a new size stay within the limit. Measuring them improves the
    /// estimate.
    #[must_use]
    pub fn rows_within(&self, gap: TimeLimit, busy: TimeLimit) -> Option<usize> {
        let [usual, full] = [self.seconds(gap.rows as f64)?, self.seconds(busy.rows as f64)?];
        let limit = (gap.factor * usual).min(busy.factor * full.max(usual));
        let mut known = self.known().peekable();
        let mut most = 0.0;
        while let Some(here) = known.next() {
            if here.seconds > limit {
                continue;
            }
            most = match known.peek() {
                Some(next) if next.seconds > limit => {
                    let row = (next.seconds - here.seconds) / (next.rows - here.rows);
                    here.rows + (limit - here.seconds) / row
                }
                Some(next) => next.rows,
                None => here.rows * limit / here.seconds,
            };
        }
        Some(most as usize)
    }

    /// Returns the costs of one more row and of a draft when `requests` requests decode together.
    /// `draft_seconds` is the time to compute a draft. Costs are multiples of a step without
    /// drafts. They grow with `requests`, because a draft for one request delays all of them.
    /// Returns `None` until steps of two different sizes have been measured.
    #[must_use]
    pub fn draft_costs(&self, requests: usize, draft_seconds: f64) -> Option<Costs> {
        let (step, row) = self.line()?;
        let n = requests as f64;
        let alone = step + row * n;
        (alone > 0.0).then(|| Costs { row: row * n / alone, draft: draft_seconds * n / alone })
    }

    /// Fits the line `step + row · rows` to the mean times of the size classes, by least squares.
    /// Returns `(step, row)`, neither of which is negative.
    fn line(&self) -> Option<(f64, f64)> {
        let n = self.known().count() as f64;
        let mean = |of: fn(Mean) -> f64| self.known().map(of).sum::<f64>() / n;
        let (rows, seconds) = (mean(|one| one.rows), mean(|one| one.seconds));
        let spread: f64 = self.known().map(|one| (one.rows - rows).powi(2)).sum();
        if n < 2.0 || spread <= 0.0 {
            return None;
        }
        let both: f64 = self.known().map(|one| (one.rows - rows) * (one.seconds - seconds)).sum();
        let row = (both / spread).max(0.0);
        Some(((seconds - row * rows).max(0.0), row))
    }

    /// Returns the means of the measured size classes, the smallest class first.
    fn known(&self) -> impl Iterator<Item = Mean> + '_ {
        self.0.iter().flatten().copied().filter(|mean| mean.seconds > 0.0)
    }

    /// Estimates the time of a step of `rows` rows, in seconds.
    fn seconds(&self, rows: f64) -> Option<f64> {
        let first = self.known().next()?;
        let mut before = None;
        for here in self.known() {
            if rows <= here.rows {
                let Some(Mean { rows: fewer, seconds }) = before else { break };
                let share = (rows - fewer) / (here.rows - fewer);
                return Some(seconds + share * (here.seconds - seconds));
            }
            before = Some(here);
        }
        if let Some(last) = before {
            return Some(last.seconds * rows / last.rows);
        }
        // Fewer rows than any measured size: extend the line through the two smallest. A row costs
        // at least 0 and at most its share of the step. Divide first: the quotient is at most 1, so
        // rounding cannot make the share larger than the step's time.
        let share = first.seconds * (rows / first.rows);
        let line = self.known().nth(1).map(|second| {
            let row = (second.seconds - first.seconds) / (second.rows - first.rows);
            first.seconds - row * (first.rows - rows)
        });
        Some(line.unwrap_or(share).clamp(share, first.seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A limit that allows any time.
    const ANY: TimeLimit = TimeLimit { factor: f64::INFINITY, rows: 1 << 50 };

    fn limit(factor: f64, rows: usize) -> TimeLimit {
        TimeLimit { factor, rows }
    }

    /// Returns measurements of one step of each size in `sizes`. A step takes `step`, plus 1 per
    /// row.
    fn measured(step: f64, sizes: &[usize]) -> StepTimes {
        let mut times = StepTimes::default();
        sizes.iter().for_each(|&rows| times.observe(rows, step + rows as f64));
        times
    }

    #[test]
    fn rows_within_obeys_both_limits() {
        assert_eq!(StepTimes::default().rows_within(limit(3.0, 1), ANY), None);
        // A step of one row takes 17 here, so the limit of three times that is 51.
        let times = measured(16.0, &[1, 8, 128]);
        assert_eq!(times.rows_within(limit(3.0, 1), ANY), Some(35));
        assert_eq!(times.rows_within(limit(3.0, 8), ANY), Some(56));
        assert_eq!(times.rows_within(limit(1.0, 8), ANY), Some(8));
        // Twice the time of a step of 16 rows is 64.
        assert_eq!(times.rows_within(limit(3.0, 8), limit(2.0, 16)), Some(48));
        // Sizes below the smallest measured one are on the same line.
        assert_eq!(measured(16.0, &[8, 128]).rows_within(limit(3.0, 1), ANY), Some(35));
    }

    #[test]
    fn rows_within_grows_without_exceeding_the_limit() {
        let mut times = measured(16.0, &[1]);
        let mut tried = vec![1];
        for _ in 0..40 {
            let rows = times.rows_within(limit(3.0, 1), ANY).expect("it has been measured");
            times.observe(rows, 16.0 + rows as f64);
            tried.push(rows);
        }
        assert!(tried.iter().all(|&rows| 16 + rows <= 3 * 17), "{tried:?}");
        assert!(tried.iter().skip(20).all(|&rows| rows >= 30), "{tried:?}");
    }

    #[test]
    fn an_outlier_changes_the_estimate_little() {
        let mut times = measured(16.0, &[1, 8, 128]);
        times.observe(1, 1e6);
        let after = times.rows_within(limit(3.0, 1), ANY).expect("it has been measured");
        assert!((35..=48).contains(&after), "{after} rows");
    }

    #[test]
    fn accepts_zero_and_falling_times() {
        let mut times = StepTimes::default();
        times.observe(1, 0.0);
        assert_eq!(times.rows_within(limit(3.0, 1), ANY), None);
        for (rows, seconds) in [(1, 5.0), (8, 4.0), (32, 3.0), (100_000, 2.0), (1 << 40, 1.0)] {
            times.observe(rows, seconds);
            assert!(times.rows_within(limit(2.0, 1), ANY).is_some_and(|most| most >= rows));
        }
    }

    #[test]
    fn factor_1_allows_at_most_the_measured_rows() {
        for rows in 1..=64 {
            for thousandths in 1..=500 {
                let mut times = StepTimes::default();
                times.observe(rows, f64::from(thousandths) / 1000.0);
                let most = times.rows_within(limit(1.0, rows), ANY).expect("it has been measured");
                assert!(most <= rows, "{most} rows, {rows} measured");
            }
        }
    }

    #[test]
    fn draft_costs_come_from_a_line_through_the_times() {
        let mut times = StepTimes::default();
        (0..5).for_each(|_| times.observe(1, 5.0));
        assert_eq!(times.draft_costs(1, 0.5), None, "steps of one size");
        for rows in [5, 1, 3] {
            times.observe(rows, 4.0 + rows as f64);
        }
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
        let one = times.draft_costs(1, 0.5).expect("three sizes");
        assert!(near(one.row, 0.2) && near(one.draft, 0.1), "{one:?}");
        // A step of four rows takes 8. One more row takes 1 and delays four requests: 4 / 8.
        let four = times.draft_costs(4, 0.5).expect("three sizes");
        assert!(near(four.row, 0.5) && near(four.draft, 0.25), "{four:?}");
    }
}
