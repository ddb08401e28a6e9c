use std::time::Duration;

use super::*;
use crate::{
    process::{Finished, cargo, run_quietly},
    testing::{curriculum, repository, write},
};

const TESTS: &str = "fn helper() {}\n\
                         #[test]\n\
                         fn task_1_zeta() {\n\
                         }\n\
                         fn task_1_alpha() {}\n    fn task_2_two() {}\n";

const OUTPUT: &str = "
running 3 tests
test task_1_alpha ... FAILED
test task_1_zeta ... FAILED
test task_2_two ... FAILED

failures:

---- task_1_alpha stdout ----

thread 'task_1_alpha' (7) panicked at src/week1/a.rs:5:5:
alpha is wrong
  diagnosis You stop at one.

---- task_1_zeta stdout ----
seen before the panic

thread 'task_1_zeta' (8) panicked at tests/week1_day1.rs:3:5:
zeta: 1 of 2 elements differ
  worst at [1]: found 2.0, expected 3.0
  diagnosis You count twice.
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

---- task_2_two stdout ----

thread 'task_2_two' (9) panicked at src/week1/a.rs:12:9:
not yet implemented: week1-day1 task 2: Two::two


failures:
    task_1_alpha

test result: FAILED. 0 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
";

fn test_run(text: &str) -> TestRun {
    let status = run_quietly(cargo(Path::new(".")).arg("--no-such-option")).unwrap().status;
    TestRun::of(Finished {
        status,
        text: text.to_owned(),
        output: text.to_owned(),
        duration: Duration::from_millis(812),
    })
}

fn told(only: Option<usize>, output: &str) -> String {
    let root = repository();
    write(root.path(), "tests/week1_day1.rs", TESTS);
    let curriculum = curriculum();
    Results::new(root.path(), curriculum.day("week1-day1").unwrap(), only, test_run(output))
        .tell(Ink::plain())
}

#[test]
fn shows_the_first_failure_in_file_order() {
    let expected = "\
failed: week1-day1 task 1, One (2 of 2 tests fail, 0.8 s)

zeta
seen before the panic

zeta: 1 of 2 elements differ
  worst at [1]: found 2.0, expected 3.0
  diagnosis You count twice.

test  tests/week1_day1.rs:3
read  book/src/week1/day1.md

also failed:
  alpha
    diagnosis You stop at one.
";
    assert_eq!(told(Some(1), OUTPUT), expected);
    let of_day = expected.replace(", 0.8 s", "");
    assert_eq!(
        told(None, OUTPUT),
        format!("{of_day}not started: week1-day1 task 2: Two::two\n0.8 s in total\n")
    );
}

#[test]
fn shows_a_failure_with_a_diagnosis_first() {
    let told = told(Some(1), &OUTPUT.replace("  diagnosis You count twice.\n", ""));
    assert!(told.contains("\nalpha\nalpha is wrong\n"), "{told}");
    assert!(told.contains("also failed:\n  zeta\n"), "{told}");
}

#[test]
fn reports_a_stub_as_not_started() {
    let expected = "\
not started: week1-day1 task 2: Two::two

two

at    src/week1/a.rs:12
read  book/src/week1/day1.md
";
    assert_eq!(told(Some(2), OUTPUT), expected);
}

#[test]
fn suggests_borrowing_a_stub_of_another_day() {
    let told =
        told(Some(2), &OUTPUT.replace("week1-day1 task 2: Two::two", "week1-day7 task 4: three"));
    assert!(
        told.ends_with(
            "That task is still open. To go on without it: cargo course borrow week1-day7 4\n"
        ),
        "{told}"
    );
}

#[test]
fn shows_only_compiler_errors() {
    let text = "   Compiling tiny-llm v0.1.0\n\
                    warning: unused\n --> src/lib.rs:1\n\n\
                    error[E0425]: no `x`\n --> src/lib.rs:2\n\n\
                    error: could not compile `tiny-llm`\n";
    assert_eq!(
        told(Some(1), text),
        "does not compile: week1-day1 task 1, One\n\nerror[E0425]: no `x`\n --> src/lib.rs:2\n"
    );
}

#[test]
fn stack_overflow_fails_only_its_task() {
    let text = "running 3 tests\ntest task_2_two ... ok\n\n\
                    thread 'parts::task_1_zeta' (7) has overflowed its stack\n\
                    fatal runtime error: stack overflow, aborting\n";
    let expected = "\
failed: week1-day1 task 1, One (the test program stopped, 0.8 s)

zeta
the stack overflowed
  diagnosis A function calls itself endlessly or too deeply.

read  book/src/week1/day1.md
";
    assert_eq!(told(Some(1), text), expected);
    assert_eq!(told(None, text), expected, "the day's other tasks get no verdict");
}

#[test]
fn abort_fails_only_its_task() {
    let text = "running 2 tests\ntest parts::task_1_zeta ... ok\ntest parts::task_2_two ... \n\
                    error: test failed, to rerun pass `--test week1_day1`\n\nCaused by:\n  \
                    process didn't exit successfully: `/a (b)/c task_2_` (signal: 6, SIGABRT: \
                    process abort signal)\n";
    let expected = "\
failed: week1-day1 task 2, Two (the test program stopped, 0.8 s)

two
the test program stopped here (signal: 6, SIGABRT: process abort signal)

read  book/src/week1/day1.md
";
    assert_eq!(told(None, text), expected);
    let failed = "memory allocation of 9 bytes failed\n";
    let told =
        told(None, &text.replacen("task_2_two ... \n", &format!("task_2_two ... \n{failed}"), 1));
    assert!(told.contains(&format!("abort signal)\n{failed}")), "{told}");
}

#[test]
fn shows_the_last_output_of_a_stopped_program() {
    let text = "running 2 tests\n\nmemory allocation of 9 bytes failed\n";
    assert_eq!(
        told(Some(1), text),
        "failed: week1-day1 task 1, One (the test program stopped, 0.8 s)\n\n\
             running 2 tests\nmemory allocation of 9 bytes failed\n\n\
             read  book/src/week1/day1.md\n"
    );
}

#[test]
fn records_every_verdict() {
    let root = repository();
    write(root.path(), "tests/week1_day1.rs", TESTS);
    let (curriculum, id) = (curriculum(), TaskId { feature: "week1-day1".into(), task: 1 });
    let fingerprints = HashMap::from([(id.clone(), "f".to_owned())]);
    Results::new(root.path(), curriculum.day("week1-day1").unwrap(), None, test_run(OUTPUT))
        .remember(root.path(), &fingerprints);
    let run = Record::load(root.path()).entry(&id).run.unwrap();
    assert_eq!(
        (run.verdict, run.milliseconds, run.first_failing.as_deref(), run.fingerprint.as_str()),
        (Verdict::Failed, 812, Some("task_1_zeta"), "f")
    );
    let second = TaskId { task: 2, ..id };
    assert_eq!(
        Record::load(root.path()).entry(&second).run.unwrap().first_failing.as_deref(),
        Some("task_2_two")
    );
}
