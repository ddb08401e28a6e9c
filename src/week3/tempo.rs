//! Provided. What a step costs on this machine, measured while it computes: `a + b · rows`.

use super::draft_length::Costs;

/// What a step's time counts after another one.
const FADES: f64 = 0.98;
/// Steps of different sizes that a line is drawn through, at least.
const ENOUGH: f64 = 4.0;

/// Times of steps in which everybody decodes, in seconds, older ones counting less.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tempo {
    /// Their number, and the sums of rows, seconds, rows², rows · seconds.
    steps: f64,
    rows: f64,
    seconds: f64,
    squares: f64,
    products: f64,
    /// Seconds of drafting, and drafts.
    drafting: f64,
    drafts: f64,
}

impl Tempo {
    /// Takes the time of a step of this many rows.
    pub fn observe(&mut self, rows: usize, seconds: f64) {
        let rows = rows as f64;
        let new = [1.0, rows, seconds, rows * rows, rows * seconds];
        let sums = [
            &mut self.steps,
            &mut self.rows,
            &mut self.seconds,
            &mut self.squares,
            &mut self.products,
        ];
        for (sum, new) in sums.into_iter().zip(new) {
            *sum = *sum * FADES + new;
        }
    }

    /// Takes the time in which this many drafts were made.
    pub fn observe_drafts(&mut self, drafts: usize, seconds: f64) {
        self.drafting = self.drafting * FADES + seconds;
        self.drafts = self.drafts * FADES + drafts as f64;
    }

    /// What a further row and a draft cost each of `requests` that decode together, in parts of what
    /// a step without drafts costs it: where one drafts, all wait. `None` before steps of different
    /// sizes have been seen.
    #[must_use]
    pub fn costs(&self, requests: usize) -> Option<Costs> {
        let Self { steps, rows, seconds, squares, products, drafting, drafts } = *self;
        let spread = steps * squares - rows * rows;
        if steps < ENOUGH || spread < 1e-3 * steps * steps {
            return None;
        }
        let row = ((steps * products - rows * seconds) / spread).max(0.0);
        let step = ((seconds - row * rows) / steps).max(0.0);
        let n = requests as f64;
        let alone = step + row * n;
        let draft = if drafts > 0.0 { drafting / drafts } else { 0.0 };
        (alone > 0.0).then(|| Costs { row: row * n / alone, draft: draft * n / alone })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_behind_the_times_is_found() {
        let mut tempo = Tempo::default();
        for rows in [1, 1, 1, 1, 1] {
            tempo.observe(rows, 5.0);
        }
        assert_eq!(tempo.costs(1), None, "steps of one size");
        for rows in [5, 1, 3] {
            tempo.observe(rows, 4.0 + rows as f64);
        }
        tempo.observe_drafts(2, 1.0);
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
        let one = tempo.costs(1).expect("three sizes");
        assert!(near(one.row, 0.2) && near(one.draft, 0.1), "{one:?}");
        // A step of four costs 8: two for each.
        let four = tempo.costs(4).expect("three sizes");
        assert!(near(four.row, 0.5) && near(four.draft, 0.25), "{four:?}");
    }
}
