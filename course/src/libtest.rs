//! Parses the output of Rust's test runner.

use std::collections::{BTreeMap, BTreeSet};

/// The results of the tests in one run.
#[derive(Debug, Default)]
pub struct Report {
    /// Whether each test passed, by name without modules. Ignored tests, for example those for
    /// another kind of processor, are not included.
    pub passed: BTreeMap<String, bool>,
    /// Tests with more than one verdict line. The test runner wrote at most one of these lines.
    pub repeated: BTreeSet<String>,
    /// The output of each failed test, by name.
    output: BTreeMap<String, String>,
    /// Number of the task whose test stopped the test program, if known.
    pub stopped_by: Option<usize>,
    /// The line `test result: …` of each test program's output.
    pub closing: Vec<String>,
}

impl Report {
    /// Parses the output of `cargo test`.
    pub fn parse(text: &str) -> Self {
        let mut report = Self::default();
        let mut section: Option<&str> = None;
        for line in text.lines() {
            if let Some(name) =
                line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"))
            {
                section = Some(own_name(name));
            } else if line.starts_with("test result: ") {
                section = None;
                report.closing.push(line.to_owned());
            } else if line == "failures:" {
                section = None;
            } else if let Some(name) = section {
                let output = report.output.entry(name.to_owned()).or_default();
                output.push_str(line);
                output.push('\n');
            } else if let Some((name, verdict)) =
                line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "))
            {
                let name = own_name(name.trim_end_matches(" - should panic")).to_owned();
                // A test without a verdict was running when the test program stopped.
                if verdict.starts_with("ignored") || verdict.is_empty() {
                    continue;
                }
                if report.passed.insert(name.clone(), verdict == "ok").is_some() {
                    report.repeated.insert(name);
                }
            }
        }
        report
    }

    /// Finds the test that stopped the whole test program, and records it as failed. `text` is
    /// standard output and error. After a stack overflow, Rust's runtime names the test on standard
    /// error. Otherwise, it is a test that has begun but has no verdict. With one thread, there is
    /// at most one such test.
    pub fn add_stopped(&mut self, text: &str) {
        let overflowed = |line: &str| {
            let (name, rest) = line.strip_prefix("thread '")?.split_once('\'')?;
            rest.contains("has overflowed its stack").then(|| own_name(name).to_owned())
        };
        let overflow = text.lines().find_map(overflowed);
        let begun = |line: &str| {
            let name = line.strip_prefix("test ")?.strip_suffix(" ... ")?;
            Some(own_name(name).to_owned())
        };
        let named = overflow.clone().filter(|name| task_of_test(name).is_some());
        let Some(name) = named.or_else(|| text.lines().find_map(begun)) else {
            return;
        };
        self.stopped_by = task_of_test(&name);
        let words = if overflow.is_some() {
            "the stack overflowed\n  diagnosis A function calls itself endlessly or too deeply.\n"
                .to_owned()
        } else {
            // Cargo's line: `process didn't exit successfully: `PROGRAM` (signal: 6, SIGABRT: …)`.
            let ends = |line: &str| {
                let end = line.trim().strip_prefix("process didn't exit successfully: ")?;
                Some(end.rsplit_once("` (")?.1.strip_suffix(')')?.to_owned())
            };
            let how = text.lines().find_map(ends).unwrap_or_else(|| "no reason given".to_owned());
            let aborts = ["memory allocation of ", "panic in a "];
            let why = text.lines().find(|line| aborts.iter().any(|start| line.starts_with(start)));
            format!("the test program stopped here ({how})\n{}\n", why.unwrap_or_default())
        };
        self.output.insert(name.clone(), words);
        self.passed.insert(name, false);
    }

    /// If a test panicked with `not verified: REASON`, because the machine lacks something that the
    /// test needs, returns the reason.
    pub fn not_verified(&self) -> Option<&str> {
        let mut panics = self.output.keys().filter_map(|name| self.first_panic(name));
        panics.find_map(|panic| panic.strip_prefix("not verified: "))
    }

    /// Returns the output of a failed test: its panic's message, location and notes.
    pub fn output(&self, name: &str) -> Option<&str> {
        self.output.get(name).map(String::as_str)
    }

    /// Returns the message of a failed test's first panic: the line after `panicked at`.
    pub fn first_panic(&self, name: &str) -> Option<&str> {
        let mut lines =
            self.output.get(name)?.lines().skip_while(|line| !line.contains("panicked at "));
        lines.next()?;
        lines.next()
    }
}

/// Removes the modules from a test's name, which only show in which file the test is:
/// `task_2::task_2_rejects_an_odd_head` → `task_2_rejects_an_odd_head`.
pub fn own_name(name: &str) -> &str {
    name.rsplit_once("::").map_or(name, |(_, own)| own)
}

/// Returns the names of all tests in a file's text that belong to a task, from top to bottom.
pub fn tests_of_tasks(text: &str) -> impl Iterator<Item = &str> {
    let names = text.lines().filter_map(|line| {
        let line = line.trim();
        let starts = ["fn ", "pub fn ", "pub(super) fn ", "pub(crate) fn "];
        let function = starts.iter().find_map(|start| line.strip_prefix(start))?;
        function.split_once('(').map(|(name, _)| name)
    });
    names.filter(|name| task_of_test(name).is_some())
}

/// Returns the number of a test's task: `task_2_rejects_an_odd_head` → 2.
pub fn task_of_test(name: &str) -> Option<usize> {
    name.strip_prefix("task_")?.split_once('_')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
running 3 tests
test task_1_sums ... ok
test task_2_refuses - should panic ... ok
test task_2_scales ... FAILED

failures:

---- task_2_scales stdout ----

thread 'task_2_scales' (7) panicked at src/week1/a.rs:5:5:
not yet implemented: week1-day1 task 2: scale
note: run with `RUST_BACKTRACE=1`


failures:
    task_2_scales

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
";

    #[test]
    fn parses_verdicts_messages_and_the_closing_line() {
        let report = Report::parse(TEXT);
        let expected = [("task_1_sums", true), ("task_2_refuses", true), ("task_2_scales", false)];
        assert_eq!(
            report.passed.iter().map(|(name, passed)| (name.as_str(), *passed)).collect::<Vec<_>>(),
            expected
        );
        assert_eq!(
            report.first_panic("task_2_scales"),
            Some("not yet implemented: week1-day1 task 2: scale")
        );
        assert_eq!(report.closing.len(), 1);
        assert_eq!(report.not_verified(), None);
        let lacking =
            TEXT.replace("not yet implemented: week1-day1 task 2", "not verified: no card");
        assert_eq!(Report::parse(&lacking).not_verified(), Some("no card: scale"));
        assert!(report.repeated.is_empty());
        assert!(Report::parse("test a ... ok\ntest a ... ok\n").repeated.contains("a"));
        let modules = Report::parse(&TEXT.replace("task_2_scales", "task_2::task_2_scales"));
        assert_eq!(modules.passed, report.passed, "a test's name is the same in any file");
        assert_eq!(modules.first_panic("task_2_scales"), report.first_panic("task_2_scales"));
        let ignored = Report::parse("test a ... ok\ntest b ... ignored, for 64-bit Arm\n");
        assert_eq!(ignored.passed.len(), 1, "an ignored test neither passes nor fails");
    }

    #[test]
    fn finds_the_tests_of_a_file() {
        let text = "fn helper() {}\n#[test]\nfn task_2_b() {}\n    #[test]\n    fn task_1_a() {}\n\
                    #[test]\npub(super) fn task_2_a() {}\n#[test]\npub(crate) fn task_2_c() {}\n\
                    pub fn task_2_d() {}\nfn task_x() {}\n// fn task_1_no() {}\n";
        let found: Vec<&str> = tests_of_tasks(text).collect();
        assert_eq!(found, ["task_2_b", "task_1_a", "task_2_a", "task_2_c", "task_2_d"]);
        assert_eq!(
            ["task_2::task_2_b", "task_2_b", "a::b::c"].map(own_name),
            ["task_2_b", "task_2_b", "c"]
        );
    }
}
