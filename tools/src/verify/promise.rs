//! Compares measurements with the course's promises about time and memory.

use super::context::Outcome;

/// Tolerance for differences between machines: a promise counts as missed if the measurement
/// exceeds it by more than a quarter.
const MACHINE: f64 = 1.25;

/// A promise: a maximum for a measurement.
#[derive(Debug)]
pub(super) struct Promise {
    /// What is measured, such as `list`.
    what: String,
    found: f64,
    promised: f64,
    /// Unit, such as `s`.
    unit: &'static str,
}

impl Promise {
    pub(super) fn new(what: &str, found: f64, promised: f64, unit: &'static str) -> Self {
        Self { what: what.to_owned(), found, promised, unit }
    }

    fn is_missed(&self) -> bool {
        self.found > self.promised * MACHINE
    }

    /// Formats the promise: `list 61 ms (promised 100)`, with `MISSED:` before it if it is missed.
    fn words(&self) -> String {
        let digits = usize::from(self.found < 10.0);
        let Self { what, found, promised, unit } = self;
        let missed = if self.is_missed() { "MISSED: " } else { "" };
        format!("{missed}{what} {found:.digits$} {unit} (promised {promised})")
    }
}

/// Returns passed, or missed if one of the promises is missed. Missed promises come first in the
/// text.
pub(super) fn outcome(promises: &[Promise], more: &str) -> Outcome {
    let (missed, kept): (Vec<_>, Vec<_>) = promises.iter().partition(|promise| promise.is_missed());
    let words: Vec<String> = missed.iter().chain(&kept).map(|promise| promise.words()).collect();
    let note =
        if more.is_empty() { words.join(", ") } else { format!("{}; {more}", words.join(", ")) };
    println!("{note}");
    if missed.is_empty() { Outcome::Passed(note) } else { Outcome::Missed(note) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(found: f64) -> Promise {
        Promise::new("list", found, 100.0, "ms")
    }

    #[test]
    fn outcome_is_missed_above_the_tolerance() {
        assert!(matches!(outcome(&[of(80.0), of(124.0)], ""), Outcome::Passed(_)));
        let Outcome::Missed(note) = outcome(&[of(80.0), of(139.0)], "two cores") else {
            panic!("139 ms of 100 are not shown as missed")
        };
        let expected = "MISSED: list 139 ms (promised 100), list 80 ms (promised 100); two cores";
        assert_eq!(note, expected);
    }
}
