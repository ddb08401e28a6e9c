//! The final table.

use std::{fmt::Write as _, time::Duration};

use serde_json::json;

use super::{context::Outcome, state::Row};

fn mark(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Passed(_) => "passed",
        Outcome::Missed(_) => "MISSED",
        Outcome::Failed(_) => "FAILED",
        Outcome::NotVerified(_) => "NOT VERIFIED",
    }
}

/// Formats one step: `passed       replay       12 s  27 tasks …`.
pub(super) fn line(row: &Row) -> String {
    let note = row.outcome.note().lines().next().unwrap_or_default();
    let clock = format!("{:.0} s", row.clock);
    let line = format!("{:<13}{:<13}{clock:>7}  {note}", mark(&row.outcome), row.id);
    line.trim_end().to_owned()
}

/// Returns whether this line is the last one of a test runner's output.
pub(super) fn is_closing(line: &str) -> bool {
    let pytest = line.starts_with("=") && line.contains(" passed") && line.ends_with('=');
    line.starts_with("test result: ") || pytest
}

/// Formats all steps, and the number of steps with each outcome.
pub(super) fn table(rows: &[Row], total: Duration) -> String {
    let mut text = format!("\n{:<13}{:<13}{:>7}  {:>9}\n", "", "step", "clock", "processor");
    for row in rows {
        let processor = row.processor.map_or("-".into(), |time| format!("{time:.0} s"));
        let clock = format!("{:.0} s", row.clock);
        let note = row.outcome.note().lines().next().unwrap_or_default();
        let head = format!("{:<13}{:<13}{clock:>7}  {processor:>9}", mark(&row.outcome), row.id);
        let _ = writeln!(text, "{}", format!("{head}  {note}").trim_end());
    }
    let count = |word: &str| rows.iter().filter(|row| mark(&row.outcome) == word).count();
    let counts = ["passed", "MISSED", "FAILED", "NOT VERIFIED"].map(|word| (word, count(word)));
    // Missed and not verified steps are counted only if there are any.
    let counts = counts.iter().filter(|(word, n)| *n > 0 || ["passed", "FAILED"].contains(word));
    let counts: Vec<String> =
        counts.map(|(word, n)| format!("{n} {}", word.to_lowercase())).collect();
    // The time of `bare` is the sum of steps that have their own rows.
    let steps = rows.iter().filter(|row| row.id != "bare");
    let processor: f64 = steps.filter_map(|row| row.processor).sum();
    let _ = write!(
        text,
        "\n{}, in {:.0} s, {processor:.0} s of processor time.",
        counts.join(", "),
        total.as_secs_f64()
    );
    text
}

/// Formats all steps as JSON, with those that `--changed` left out.
pub(super) fn json(rows: &[Row], left_out: &[(String, String)], total: Duration) -> String {
    let left_out: Vec<_> =
        left_out.iter().map(|(step, reason)| json!({"step": step, "reason": reason})).collect();
    json!({"steps": rows, "left_out": left_out, "seconds": total.as_secs_f64()}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_counts_only_passed_steps_as_passed() {
        let row = |id: &str, outcome| Row {
            id: id.to_owned(),
            outcome,
            clock: 1.0,
            processor: Some(2.0),
        };
        let text = table(
            &[
                row("bare", Outcome::Passed(String::new())),
                row("a", Outcome::Passed("3 tests".into())),
                row("b", Outcome::NotVerified("--no-python".into())),
                row("c", Outcome::Failed("line one\nline two".into())),
                row("d", Outcome::Missed("MISSED: 61 s (promised 40)".into())),
            ],
            Duration::from_secs(4),
        );
        for line in [
            "NOT VERIFIED b                1 s        2 s  --no-python",
            "MISSED       d                1 s        2 s",
            "passed       a                1 s        2 s  3 tests",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(text.contains("line one") && !text.contains("line two"), "{text}");
        let closing =
            "2 passed, 1 missed, 1 failed, 1 not verified, in 4 s, 8 s of processor time.";
        assert!(text.ends_with(closing), "{text}");
    }

    #[test]
    fn is_closing_recognizes_cargo_test_and_pytest() {
        assert!(is_closing("test result: ok. 3 passed; 0 failed; 0 ignored"));
        assert!(is_closing("====== 945 passed in 12.3s ======"));
        assert!(!is_closing("week1-day1 before task 1: test result: FAILED."));
    }
}
