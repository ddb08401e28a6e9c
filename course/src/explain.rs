//! Reduces the output of cargo and the test program to the parts that a learner needs.

use crate::{ink::bleached, libtest::Report};

/// A failed test.
pub struct Failure {
    /// The test's output and the panic's message, without backtraces. If the panic is in `tests/`,
    /// `found` and `expected` replace the `left` and `right` of an `assert_eq!`.
    pub message: String,
    /// Location of the panic: `src/week1/attention/attention.rs:39`.
    pub place: Option<String>,
}

impl Failure {
    /// Returns the failure of the test `name`.
    pub fn of(report: &Report, name: &str) -> Self {
        let (mut message, mut place, mut in_backtrace) = (Vec::new(), None, false);
        for line in report.output(name).unwrap_or_default().lines() {
            let panicked =
                line.starts_with("thread '").then(|| line.split_once(" panicked at ")).flatten();
            if let Some((_, at)) = panicked {
                place.get_or_insert_with(|| without_column(at));
                in_backtrace = false;
            } else if line == "stack backtrace:" {
                in_backtrace = true;
            } else if !in_backtrace && !line.starts_with("note: run with `RUST_BACKTRACE=") {
                message.push(line);
            }
        }
        let message = match &place {
            Some(place) if place.starts_with("tests/") => in_words(&message),
            _ => message.join("\n"),
        };
        Self { message: message.trim_matches('\n').to_owned(), place }
    }
}

/// Replaces `left` and `right`, the words of an `assert_eq!`, with `found` and `expected`.
fn in_words(message: &[&str]) -> String {
    let mut lines = Vec::new();
    for line in message {
        if let Some(said) = line.strip_prefix("assertion `left == right` failed") {
            lines.push(said.strip_prefix(": ").unwrap_or(said).to_owned());
        } else if let Some(found) = line.strip_prefix("  left: ") {
            lines.push(format!("  found    {found}"));
        } else if let Some(expected) = line.strip_prefix(" right: ") {
            lines.push(format!("  expected {expected}"));
        } else {
            lines.push((*line).to_owned());
        }
    }
    lines.join("\n")
}

/// Removes the column and shortens the path: `src/week1/a.rs:5:9:` → `src/week1/a.rs:5`, and
/// `src/../provided/a.rs:5:9:` → `provided/a.rs:5`.
fn without_column(place: &str) -> String {
    let place = place.trim_end_matches(':').replace('\\', "/");
    let place = place.replace("reference/src/../../", "").replace("src/../", "");
    place.rsplit_once(':').map_or(place.clone(), |(line, _)| line.to_owned())
}

/// Returns the harness's diagnosis in a failed test's message, if any.
pub fn diagnosis(message: &str) -> Option<&str> {
    message.lines().find_map(|line| line.trim_start().strip_prefix("diagnosis "))
}

/// If a test failed at a stub, returns the stub's message: `week1-day1 task 1: softmax`.
pub fn open_stub<'a>(report: &'a Report, test: &str) -> Option<&'a str> {
    let stub = report.first_panic(test)?.strip_prefix("not yet implemented: ")?;
    (stub.starts_with("week") && stub.contains(" task ")).then_some(stub)
}

/// Formats the name of a test: `task_1_softmax_rows_sum_to_one` → `softmax rows sum to one`.
pub fn words(test: &str) -> String {
    let name = test
        .strip_prefix("task_")
        .and_then(|rest| rest.split_once('_'))
        .map_or(test, |(_, name)| name);
    name.replace('_', " ")
}

/// Formats a number of things: `1 test`, `2 tests`.
pub fn counted(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// Returns the build's progress, if this line of cargo's output reports it: `building ndarray`.
pub fn build_step(line: &str) -> Option<String> {
    let line = bleached(line);
    let mut words = line.split_whitespace();
    match words.next()? {
        "Compiling" => words
            .next()
            .filter(|package| *package != "tiny-llm")
            .map(|package| format!("building {package}")),
        "Updating" | "Downloading" | "Downloaded" | "Blocking" => Some(line.trim().to_owned()),
        _ => None,
    }
}

/// Returns the compiler's errors, without its warnings and cargo's own lines. If there are no
/// errors, returns everything.
pub fn compile_errors(text: &str) -> String {
    const CARGO: [&str; 8] = [
        "   Compiling ",
        "    Blocking ",
        "    Updating ",
        " Downloading ",
        "  Downloaded ",
        "     Locking ",
        "    Checking ",
        "error: could not compile ",
    ];
    let lines =
        text.lines().filter(|line| !CARGO.iter().any(|own| bleached(line).starts_with(own)));
    let lines: Vec<&str> = lines.collect();
    let blocks = lines.split(|line| line.trim().is_empty()).filter(|block| !block.is_empty());
    let errors: Vec<String> = blocks
        .filter(|block| !bleached(block[0]).starts_with("warning"))
        .map(|block| block.join("\n"))
        .collect();
    if errors.is_empty() { text.trim_matches('\n').to_owned() } else { errors.join("\n\n") }
}

/// Returns the last eight lines of the output of a test program that ended without a report. Skips
/// empty lines and lines that begin with `test `.
pub fn tail(text: &str) -> String {
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.is_empty() && !line.starts_with("test ")).collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_uses_the_singular_for_one() {
        let counts = [0, 1, 2].map(|number| counted(number, "test"));
        assert_eq!(counts, ["0 tests", "1 test", "2 tests"]);
    }

    #[test]
    fn formats_test_names_as_words() {
        assert_eq!(words("task_12_top_k_keeps_ties"), "top k keeps ties");
        assert_eq!(words("loads"), "loads");
    }

    #[test]
    fn replaces_left_and_right_with_found_and_expected() {
        let message =
            ["assertion `left == right` failed: pages that are free", "  left: 1", " right: 2"];
        assert_eq!(in_words(&message), "pages that are free\n  found    1\n  expected 2");
    }

    #[test]
    fn removes_the_column_from_a_location() {
        assert_eq!(without_column("src/week1/a.rs:5:9:"), "src/week1/a.rs:5");
        assert_eq!(without_column("src\\week1\\a.rs:5:9:"), "src/week1/a.rs:5");
        for tree in ["src/..", "reference/src/../.."] {
            assert_eq!(without_column(&format!("{tree}/provided/a.rs:5:9:")), "provided/a.rs:5");
        }
    }

    #[test]
    fn omits_the_backtrace() {
        let text = "---- task_1_a stdout ----\n\n\
                    thread 'task_1_a' (7) panicked at src/a.rs:5:5:\n\
                    first\n\n\
                    last\n\
                    stack backtrace:\n   0: x\n\n";
        let failure = Failure::of(&Report::parse(text), "task_1_a");
        assert_eq!(
            (failure.message.as_str(), failure.place.as_deref()),
            ("first\n\nlast", Some("src/a.rs:5"))
        );
    }

    #[test]
    fn recognises_only_the_course_stubs() {
        let report = |message: &str| {
            Report::parse(&format!(
                "---- t stdout ----\nthread 't' panicked at src/a.rs:5:5:\n{message}\n"
            ))
        };
        assert_eq!(
            open_stub(&report("not yet implemented: week1-day1 task 2: two"), "t"),
            Some("week1-day1 task 2: two")
        );
        assert_eq!(open_stub(&report("not yet implemented"), "t"), None);
        assert_eq!(open_stub(&report("not yet implemented: the mask"), "t"), None);
    }

    #[test]
    fn returns_build_steps_from_cargo_output() {
        assert_eq!(
            build_step("\x1b[1m\x1b[32m   Compiling\x1b[0m ndarray v0.17.2").as_deref(),
            Some("building ndarray")
        );
        assert_eq!(
            build_step("    Blocking waiting for file lock on build directory").as_deref(),
            Some("Blocking waiting for file lock on build directory")
        );
        assert_eq!(build_step("   Compiling tiny-llm v0.1.0"), None, "every edit compiles it");
        assert_eq!(build_step("error: no"), None);
        assert_eq!(build_step(""), None);
    }

    #[test]
    fn finds_coloured_errors() {
        let text = "\x1b[1m\x1b[32m   Compiling\x1b[0m tiny-llm\n\x1b[1m\x1b[33mwarning\x1b[0m: \
                    unused\n\n\x1b[1m\x1b[31merror\x1b[0m: no\n";
        assert_eq!(compile_errors(text), "\x1b[1m\x1b[31merror\x1b[0m: no");
        assert_eq!(compile_errors("warning: all there is\n"), "warning: all there is");
    }
}
