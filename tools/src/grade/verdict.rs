//! Interprets the output of a test program, and decides whether to trust it.
//!
//! The output is trusted if it is complete: one verdict for each test, one closing line with the
//! same counts, and the matching exit code. It is not trusted if the program was stopped or
//! crashed, or if something else wrote to its output.

use super::limited::{Ended, Limits};
use crate::libtest::{Report, own_name};

/// The result of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It passed.
    Passed,
    /// It failed. `message` is the message of its panic, and `output` is what it printed. If there
    /// is no verdict, both are the reason.
    Failed { message: String, output: String },
    /// It never ran, with the reason.
    NotRun(String),
}

/// One test.
#[derive(Debug, Clone)]
pub(super) struct Test {
    /// Name, such as `task_1_softmax_normalises_each_row`.
    pub(super) name: String,
    pub(super) verdict: Verdict,
}

/// Returns the verdicts on the tests `expected`, which a program ran. If its output is not trusted,
/// also returns why. Then each test that the output does not report as passed counts as failed. If
/// the output reports that all passed, all count as failed.
pub(super) fn verdicts(
    ended: &Ended,
    expected: &[String],
    limits: &Limits,
) -> (Vec<Test>, Option<String>) {
    let report = Report::parse(&ended.stdout);
    let names: Vec<&str> = expected.iter().map(|path| own_name(path)).collect();
    let reason = (!is_whole(&report, ended, &names)).then(|| reason(ended, limits));
    let passed = |name: &str| report.passed.get(name) == Some(&true);
    let all_passed = names.iter().all(|name| passed(name));
    let test = |name: &&str| {
        let verdict = match &reason {
            Some(reason) if all_passed || !passed(name) => {
                Verdict::Failed { message: reason.clone(), output: reason.clone() }
            }
            _ => verdict(&report, name),
        };
        Test { name: (*name).to_owned(), verdict }
    };
    (names.iter().map(test).collect(), reason)
}

fn is_whole(report: &Report, ended: &Ended, names: &[&str]) -> bool {
    let Some((passed, failed)) = counts(report) else { return false };
    report.repeated.is_empty()
        && report.passed.keys().eq(names)
        && passed == report.passed.values().filter(|passed| **passed).count()
        && passed + failed == names.len()
        && ended.status.and_then(|status| status.code()) == Some(if failed == 0 { 0 } else { 101 })
}

fn reason(ended: &Ended, limits: &Limits) -> String {
    match ended.status.and_then(|status| status.code()) {
        Some(0 | 101) => "the test program's output is incomplete".to_owned(),
        _ => ended.reason(limits),
    }
}

fn verdict(report: &Report, name: &str) -> Verdict {
    if report.passed.get(name) == Some(&true) {
        return Verdict::Passed;
    }
    let message = report.first_panic(name).unwrap_or("the test failed and printed nothing");
    let message = message.to_owned();
    Verdict::Failed { message, output: steady(report.output(name).unwrap_or_default()) }
}

/// Returns how many tests passed and failed, according to the report's closing line. Returns `None`
/// if there is not exactly one.
fn counts(report: &Report) -> Option<(usize, usize)> {
    let [closing] = report.closing.as_slice() else { return None };
    let number = |word: &str| {
        closing
            .split(['.', ';'])
            .find_map(|part| part.trim().strip_suffix(word)?.trim().parse::<usize>().ok())
    };
    Some((number("passed")?, number("failed")?))
}

/// Returns a test's output without parts that differ between runs and machines: the thread's
/// number, and the paths of libraries.
fn steady(output: &str) -> String {
    let mut text = String::new();
    for line in output.lines().filter(|line| !line.starts_with("note: run with `RUST_BACKTRACE")) {
        let mut line = line.to_owned();
        if let Some(at) = line.find("' (")
            && line.starts_with("thread '")
            && let Some(end) = line[at..].find(") panicked at ")
        {
            line.replace_range(at + 1..=at + end, "");
        }
        if let Some((before, place)) = line.split_once(" panicked at ") {
            let place = place.replace('\\', "/");
            let crates = place
                .split_once("/registry/src/")
                .and_then(|(_, rest)| Some(rest.split_once('/')?.1));
            let short = crates.or_else(|| Some(place.split_once("/library/")?.1));
            line = format!("{before} panicked at {}", short.unwrap_or(&place));
        }
        text += &line;
        text.push('\n');
    }
    text.trim().to_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ended(stdout: &str, code: i32) -> Ended {
        use std::os::unix::process::ExitStatusExt;
        let status = Some(std::process::ExitStatus::from_raw(code << 8));
        Ended { status, limit: None, stdout: stdout.to_owned(), stderr: String::new() }
    }

    const LIMITS: Limits = Limits {
        time: Duration::from_secs(3),
        silence: Duration::from_secs(3),
        processor: 3,
        memory: 5,
        output: 0,
    };

    fn trusted(ended: &Ended, expected: &[String]) -> Result<Vec<Test>, String> {
        let (tests, reason) = verdicts(ended, expected, &LIMITS);
        reason.map_or(Ok(tests), Err)
    }

    fn closing(passed: usize, failed: usize) -> String {
        format!(
            "test result: FAILED. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 \
             filtered out; finished in 0.01s\n"
        )
    }

    const FAILURE: &str = "
---- b stdout ----

thread 'b' (17) panicked at /home/x/.cargo/registry/src/index-1/ndarray-0.17/src/a.rs:1:1:
shapes differ
note: the worst is at [0]
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

";

    fn names() -> Vec<String> {
        ["a", "b"].map(str::to_owned).to_vec()
    }

    #[test]
    fn trusts_a_complete_report() {
        let text = format!(
            "test a ... ok\ntest b ... FAILED\n{FAILURE}\nfailures:\n    b\n\n{}",
            closing(1, 1)
        );
        let tests = trusted(&ended(&text, 101), &names()).unwrap();
        assert_eq!(tests[0].verdict, Verdict::Passed);
        let output = "thread 'b' panicked at ndarray-0.17/src/a.rs:1:1:\n\
                      shapes differ\n\
                      note: the worst is at [0]"
            .to_owned();
        assert_eq!(
            tests[1].verdict,
            Verdict::Failed { message: "shapes differ".to_owned(), output }
        );
    }

    #[test]
    fn rejects_incomplete_or_forged_reports() {
        let good = format!("test a ... ok\ntest b ... ok\n{}", closing(2, 0));
        assert!(trusted(&ended(&good, 0), &names()).is_ok());
        for (text, code) in [
            (good.clone(), 101),
            (good.replace("test b ... ok\n", ""), 0),
            (good.replace("test b ... ok\n", "test b ... ok\ntest b ... ok\n"), 0),
            (good.replace("test b", "test c"), 0),
            (format!("{good}{}", closing(2, 0)), 0),
            (good.replace("2 passed", "1 passed"), 0),
            ("test a ... ok\ntest b ... ok\n".to_owned(), 0),
            (String::new(), 0),
        ] {
            assert!(trusted(&ended(&text, code), &names()).is_err(), "{text} {code}");
        }
        // The program lists its tests with their modules. Verdicts have only their names.
        let paths = ["task_2::a", "task_1::b"].map(str::to_owned);
        let in_files = good.replace("test a", "test task_2::a").replace("test b", "test task_1::b");
        let tests = trusted(&ended(&in_files, 0), &paths).unwrap();
        assert_eq!([&tests[0].name, &tests[1].name], ["a", "b"]);
        let twice =
            in_files.replace("test task_1::b ... ok\n", "test task_1::b ... ok\ntest b ... ok\n");
        assert!(trusted(&ended(&twice, 0), &paths).is_err());
    }

    #[test]
    fn a_stopped_program_fails_its_unreported_tests() {
        let failed = |tests: &[Test]| -> Vec<bool> {
            tests.iter().map(|test| test.verdict != Verdict::Passed).collect()
        };
        let started = "test a ... ok\ntest b ... ";
        let late = Ended { status: None, limit: Some(LIMITS.time), ..ended(started, 0) };
        let (tests, reason) = verdicts(&late, &names(), &LIMITS);
        assert_eq!(reason.as_deref(), Some("ended after 3 s, the time limit"));
        assert_eq!(failed(&tests), [false, true]);
        // The program reports that all tests passed, but did not end normally.
        let good = format!("test a ... ok\ntest b ... ok\n{}", closing(2, 0));
        for (code, expected) in [
            (7, "ended with exit code 7 without a verdict"),
            (101, "the test program's output is incomplete"),
            (134, "ended by signal 6"),
        ] {
            let (tests, reason) = verdicts(&ended(&good, code), &names(), &LIMITS);
            assert_eq!((failed(&tests), reason.as_deref()), (vec![true, true], Some(expected)));
        }
        let overflow =
            Ended { stderr: "thread 'a' has overflowed its stack\n".to_owned(), ..ended("", 3) };
        assert_eq!(trusted(&overflow, &names()).unwrap_err(), "stack overflow");
    }
}
