//! How a test ended, as far as a test program's word is believed.
//!
//! What it says of all its tests is believed if it is whole: one verdict for each test, one closing
//! line with the same counts, and the exit code that belongs to them. It is not if the program was
//! ended, if it crashed, or if something else wrote into its output.

use super::limited::{Ended, Limits};
use crate::libtest::{Report, own_name};

/// How one test ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It passed.
    Passed,
    /// It failed; its panic's message and all that it printed, or why there is no verdict.
    Failed { message: String, output: String },
    /// It never ran, and why.
    NotRun(String),
}

/// One test.
#[derive(Debug, Clone)]
pub(super) struct Test {
    /// `task_1_softmax_normalises_each_row`.
    pub(super) name: String,
    /// How it ended.
    pub(super) verdict: Verdict,
}

/// The verdicts of a program that ran all tests, if its output is whole.
pub(super) fn together(ended: &Ended, expected: &[String]) -> Option<Vec<Test>> {
    let report = Report::parse(&ended.stdout);
    let (passed, failed) = counts(&report)?;
    let agree = report.repeated.is_empty()
        && report.passed.keys().eq(expected.iter().map(|path| own_name(path)))
        && passed == report.passed.values().filter(|passed| **passed).count()
        && passed + failed == expected.len()
        && ended.status?.code() == Some(if failed == 0 { 0 } else { 101 });
    let test = |name: &str| Test { name: name.to_owned(), verdict: verdict(&report, name) };
    agree.then(|| expected.iter().map(|path| test(own_name(path))).collect())
}

/// The verdict of a program that ran one test.
pub(super) fn alone(ended: &Ended, name: &str, limits: &Limits) -> Verdict {
    let report = Report::parse(&ended.stdout);
    let code = ended.status.and_then(|status| status.code());
    let one = report.passed.len() == 1 && report.repeated.is_empty();
    match (report.passed.get(name), counts(&report), code) {
        (Some(true), Some((1, 0)), Some(0)) if one => Verdict::Passed,
        (Some(false), Some((0, 1)), Some(101)) if one => verdict(&report, name),
        (_, _, Some(0 | 101)) => {
            let message =
                "no verdict, or more than one: something else wrote into the test program's output"
                    .to_owned();
            Verdict::Failed { output: message.clone(), message }
        }
        _ => {
            let message = ended.reason(limits);
            Verdict::Failed { output: message.clone(), message }
        }
    }
}

fn verdict(report: &Report, name: &str) -> Verdict {
    if report.passed.get(name) == Some(&true) {
        return Verdict::Passed;
    }
    let message = report.first_panic(name).unwrap_or("it failed and printed nothing").to_owned();
    Verdict::Failed { message, output: steady(report.output(name).unwrap_or_default()) }
}

/// How many passed and failed, by the one closing line.
fn counts(report: &Report) -> Option<(usize, usize)> {
    let [closing] = report.closing.as_slice() else { return None };
    let number = |word: &str| {
        closing
            .split(['.', ';'])
            .find_map(|part| part.trim().strip_suffix(word)?.trim().parse::<usize>().ok())
    };
    Some((number("passed")?, number("failed")?))
}

/// A test's output without what differs from run to run and from machine to machine: the thread's
/// number, and where libraries lie.
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
        Ended { status, stdout: stdout.to_owned(), stderr: String::new(), duration: Duration::ZERO }
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
    fn a_whole_report_is_believed() {
        let text = format!(
            "test a ... ok\ntest b ... FAILED\n{FAILURE}\nfailures:\n    b\n\n{}",
            closing(1, 1)
        );
        let tests = together(&ended(&text, 101), &names()).unwrap();
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
    fn a_report_with_a_hole_or_a_forgery_is_not() {
        let good = format!("test a ... ok\ntest b ... ok\n{}", closing(2, 0));
        assert!(together(&ended(&good, 0), &names()).is_some());
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
            assert!(together(&ended(&text, code), &names()).is_none(), "{text} {code}");
        }
        // The program's list says in which files its tests are; a verdict has their names alone.
        let paths = ["task_2::a", "task_1::b"].map(str::to_owned);
        let in_files = good.replace("test a", "test task_2::a").replace("test b", "test task_1::b");
        let tests = together(&ended(&in_files, 0), &paths).unwrap();
        assert_eq!([&tests[0].name, &tests[1].name], ["a", "b"]);
        let twice =
            in_files.replace("test task_1::b ... ok\n", "test task_1::b ... ok\ntest b ... ok\n");
        assert!(together(&ended(&twice, 0), &paths).is_none());
        let timed_out = Ended { status: None, ..ended(&good, 0) };
        assert!(together(&timed_out, &names()).is_none());
    }

    #[test]
    fn one_test_by_itself() {
        let limits = Limits { time: Duration::from_secs(3), memory: 5, output: 0 };
        let good = format!("test a ... ok\n{}", closing(1, 0));
        let judge = |text: &str, code| match alone(&ended(text, code), "a", &limits) {
            Verdict::Failed { message, .. } => message,
            other => format!("{other:?}"),
        };
        assert_eq!(judge(&good, 0), "Passed");
        assert!(judge(&good, 101).starts_with("no verdict"), "the exit code counts");
        assert!(judge("", 0).starts_with("no verdict"), "an early exit is no verdict");
        assert!(judge(&format!("test a ... ok\n{good}"), 0).starts_with("no verdict"));
        assert_eq!(judge("", 7), "ended with exit code 7 without a verdict");
        let overflow =
            Ended { stderr: "thread 'a' has overflowed its stack\n".to_owned(), ..ended("", 3) };
        assert!(
            matches!(alone(&overflow, "a", &limits), Verdict::Failed { message, .. } if message == "stack overflow")
        );
        let late = Ended { status: None, ..ended("", 0) };
        assert!(
            matches!(alone(&late, "a", &limits), Verdict::Failed { message, .. } if message == "ended after 3 s, the time limit")
        );
    }
}
