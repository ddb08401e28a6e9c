//! Runs the tests of a task or a day, describes the result and records it.

use std::{collections::HashMap, fs, path::Path};

use crate::{
    curriculum::{Day, Task, TaskId},
    explain::{self, Failure},
    ink::Ink,
    judge::{Judged, Verdict},
    libtest::{task_of_test, tests_of_tasks},
    record::{Record, Run},
};

/// A finished run.
pub(crate) struct Trial<'a> {
    day: &'a Day,
    /// One for each task that ran, in order.
    pub(crate) tasks: Vec<TaskTrial<'a>>,
    judged: Judged,
}

/// Returns the verdict on one task.
pub(crate) struct TaskTrial<'a> {
    pub(crate) id: TaskId,
    task: &'a Task,
    pub(crate) verdict: Verdict,
    /// Tests that ran.
    ran: usize,
    /// Those of them that failed: those with a diagnosis before all others, and each in the order
    /// of the test files.
    failing: Vec<String>,
}

impl<'a> Trial<'a> {
    /// Sorts a run's tests by task. `only` is the task that was asked for; without it the day was.
    pub(crate) fn new(root: &Path, day: &'a Day, only: Option<usize>, judged: Judged) -> Self {
        let files = day.test_files(root);
        let texts: String =
            files.iter().filter_map(|file| fs::read_to_string(root.join(file)).ok()).collect();
        let order: Vec<&str> = tests_of_tasks(&texts).collect();
        let place = |name: &str| order.iter().position(|test| *test == name).unwrap_or(usize::MAX);
        // Of a test program that was stopped, only the task that stopped it has a verdict; of a whole
        // day, those that this machine's processor runs.
        let only = judged.report.stopped_by.or(only);
        let chosen = day
            .tasks()
            .filter(|(id, task)| only.map_or_else(|| task.is_for_here(), |only| only == id.task));
        let tasks = chosen.map(|(id, task)| {
            let mine: Vec<(&String, bool)> = judged
                .report
                .passed
                .iter()
                .filter(|(name, _)| task_of_test(name) == Some(id.task))
                .map(|(name, passed)| (name, *passed))
                .collect();
            let failed = mine.iter().filter(|(_, passed)| !passed);
            let mut failing: Vec<String> = failed.map(|(name, _)| (*name).clone()).collect();
            let is_named = |name: &str| {
                explain::diagnosis(&Failure::of(&judged.report, name).message).is_some()
            };
            failing.sort_by_cached_key(|name| (!is_named(name), place(name)));
            TaskTrial { verdict: judged.of_task(id.task), ran: mine.len(), failing, id, task }
        });
        Self { tasks: tasks.collect(), day, judged }
    }

    /// Returns whether all requested tests are green.
    pub(crate) fn passed(&self) -> bool {
        self.tasks.iter().all(|task| task.verdict == Verdict::Passed)
    }

    /// Writes the verdicts into the record. The fingerprints are those of before the run: what was
    /// saved meanwhile was not judged.
    pub(crate) fn remember(&self, root: &Path, fingerprints: &HashMap<TaskId, String>) {
        Record::update(root, |record| {
            for task in &self.tasks {
                let fingerprint = fingerprints.get(&task.id).cloned().unwrap_or_default();
                record.ran(
                    &task.id,
                    Run::now(
                        task.verdict,
                        self.judged.duration,
                        task.failing.first().cloned(),
                        fingerprint,
                    ),
                );
            }
        });
    }

    /// The verdicts, one line each, and the first failure in full; several paragraphs, with a line
    /// end.
    pub(crate) fn tell(&self, ink: Ink) -> String {
        if self.judged.verdict == Verdict::DoesNotCompile {
            return self.tell_compile_errors(ink);
        }
        let (mut text, mut shown) = (String::new(), false);
        for task in &self.tasks {
            text += &self.line(task, ink);
            let to_be_shown = task.verdict == Verdict::Failed
                && !shown
                && (self.tasks.len() == 1 || !self.is_not_started(task));
            if to_be_shown {
                text += &self.detail(task, ink);
                shown = true;
            }
        }
        if self.tasks.len() > 1 {
            text += &format!("{}\n", ink.dim(&format!("{} in all", self.seconds())));
        }
        text
    }

    /// Only the first failure of one task, as [`Trial::tell`] has it.
    pub(crate) fn tell_task(&self, id: &TaskId, ink: Ink) -> String {
        if self.judged.verdict == Verdict::DoesNotCompile {
            return self.tell_compile_errors(ink);
        }
        self.tasks
            .iter()
            .find(|task| task.id == *id)
            .map_or(String::new(), |task| self.line(task, ink) + &self.detail(task, ink))
    }

    /// Whether a task's first failure is more than a stub's `todo!`.
    pub(crate) fn has_failed_since_begun(&self, id: &TaskId) -> bool {
        self.tasks.iter().any(|task| {
            task.id == *id && task.verdict != Verdict::Passed && !self.is_not_started(task)
        })
    }

    /// Whether a task's first failure is a stub's `todo!`.
    fn is_not_started(&self, task: &TaskTrial) -> bool {
        task.failing
            .first()
            .and_then(|test| explain::open_stub(&self.judged.report, test))
            .is_some()
    }

    /// Day and task of a stub that belongs to another day than this one.
    fn of_another_day<'b>(&self, stub: &'b str) -> Option<(&'b str, &'b str)> {
        let (day, rest) = stub.split_once(" task ")?;
        (day != self.day.feature).then_some((day, rest.split_once(':')?.0))
    }

    fn tell_compile_errors(&self, ink: Ink) -> String {
        let what = match self.tasks.as_slice() {
            [task] => format!("{}, {}", task.id, task.task.title),
            _ => self.day.feature.clone(),
        };
        let mark = ink.red(Verdict::DoesNotCompile.words());
        format!("{mark}: {what}\n\n{}\n", explain::compile_errors(&self.judged.text))
    }

    /// Formats the time of build and tests.
    fn seconds(&self) -> String {
        format!("{:.1} s", self.judged.duration.as_secs_f64())
    }

    fn line(&self, task: &TaskTrial, ink: Ink) -> String {
        let name = format!("{}, {}", task.id, task.task.title);
        // Of a day only the whole has a time.
        let seconds =
            if self.tasks.len() == 1 { format!(", {}", self.seconds()) } else { String::new() };
        match task.failing.first().and_then(|test| explain::open_stub(&self.judged.report, test)) {
            _ if task.verdict == Verdict::Passed => {
                format!(
                    "{}: {name} {}\n",
                    ink.green("passed"),
                    ink.dim(&format!("({} tests{seconds})", task.ran))
                )
            }
            Some(stub) => {
                let green = task.ran - task.failing.len();
                let already = if green > 0 {
                    ink.dim(&format!(" ({green} of {} tests pass)", task.ran))
                } else {
                    String::new()
                };
                format!("{}: {stub}{already}\n", ink.yellow("not started"))
            }
            None => {
                let what = if self.judged.report.closing.is_empty() {
                    "the test program stopped".to_owned()
                } else {
                    format!("{} of {} tests fail", task.failing.len(), task.ran)
                };
                let what = ink.dim(&format!("({what}{seconds})"));
                format!("{}: {name} {what}\n", ink.red("failed"))
            }
        }
    }

    fn detail(&self, task: &TaskTrial, ink: Ink) -> String {
        let Some((first, others)) = task.failing.split_first() else {
            return if task.verdict == Verdict::Failed {
                format!("\n{}\n\nread  {}\n", explain::tail(&self.judged.text), self.day.chapter)
            } else {
                String::new()
            };
        };
        let failure = Failure::of(&self.judged.report, first);
        let mut text = format!("\n{}\n", ink.bold(&explain::words(first)));
        if explain::open_stub(&self.judged.report, first).is_none() {
            text += &format!("{}\n", failure.message);
        }
        text += "\n";
        if let Some(place) = &failure.place {
            let what = if place.starts_with("tests/") { "test" } else { "at" };
            text += &format!("{what:<5} {place}\n");
        }
        match explain::open_stub(&self.judged.report, first)
            .and_then(|stub| self.of_another_day(stub))
        {
            Some((day, number)) => {
                text += &format!(
                    "That task is still open. To go on without it: cargo course borrow {day} \
                     {number}\n"
                );
            }
            None => text += &format!("read  {}\n", self.day.chapter),
        }
        text + &self.also_red(others, explain::diagnosis(&failure.message), ink)
    }

    /// The other failing tests, one line each, and what they make of it if that was not `said`
    /// before; those that stop at a stub in one line together.
    fn also_red(&self, others: &[String], said: Option<&str>, ink: Ink) -> String {
        let (stubs, wrong): (Vec<&String>, Vec<&String>) =
            others.iter().partition(|test| explain::open_stub(&self.judged.report, test).is_some());
        let mut text = String::new();
        if !wrong.is_empty() {
            text += &format!("\nalso {}:\n", ink.red("failed"));
            let mut said: Vec<String> = said.into_iter().map(str::to_owned).collect();
            for test in wrong {
                text += &format!("  {}\n", explain::words(test));
                let failure = Failure::of(&self.judged.report, test);
                if let Some(new) = explain::diagnosis(&failure.message)
                    .filter(|new| !said.iter().any(|old| old == new))
                {
                    text += &format!("    diagnosis {new}\n");
                    said.push(new.to_owned());
                }
            }
        }
        if !stubs.is_empty() {
            let (number, verb) = if stubs.len() == 1 {
                ("1 more test".to_owned(), "stops")
            } else {
                (format!("{} more tests", stubs.len()), "stop")
            };
            text += &format!("\n{number} {verb} at what is not started.\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
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

    fn judged(text: &str) -> Judged {
        let status = run_quietly(cargo(Path::new(".")).arg("--no-such-option")).unwrap().status;
        Judged::of(Finished {
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
        Trial::new(root.path(), curriculum.day("week1-day1").unwrap(), only, judged(output))
            .tell(Ink::plain())
    }

    #[test]
    fn the_first_failure_is_that_of_the_test_file() {
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
            format!("{of_day}not started: week1-day1 task 2: Two::two\n0.8 s in all\n")
        );
    }

    #[test]
    fn one_with_a_diagnosis_comes_first() {
        let told = told(Some(1), &OUTPUT.replace("  diagnosis You count twice.\n", ""));
        assert!(told.contains("\nalpha\nalpha is wrong\n"), "{told}");
        assert!(told.contains("also failed:\n  zeta\n"), "{told}");
    }

    #[test]
    fn a_stub_is_not_started() {
        let expected = "\
not started: week1-day1 task 2: Two::two

two

at    src/week1/a.rs:12
read  book/src/week1/day1.md
";
        assert_eq!(told(Some(2), OUTPUT), expected);
    }

    #[test]
    fn a_stub_of_another_day_can_be_borrowed() {
        let told = told(
            Some(2),
            &OUTPUT.replace("week1-day1 task 2: Two::two", "week1-day7 task 4: three"),
        );
        assert!(
            told.ends_with(
                "That task is still open. To go on without it: cargo course borrow week1-day7 4\n"
            ),
            "{told}"
        );
    }

    #[test]
    fn errors_of_the_compiler_are_its_own() {
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
    fn a_test_that_overflows_the_stack_is_its_tasks_failure() {
        let text = "running 3 tests\ntest task_2_two ... ok\n\n\
                    thread 'parts::task_1_zeta' (7) has overflowed its stack\n\
                    fatal runtime error: stack overflow, aborting\n";
        let expected = "\
failed: week1-day1 task 1, One (the test program stopped, 0.8 s)

zeta
the stack overflowed
  diagnosis A function calls itself without end, or too often.

read  book/src/week1/day1.md
";
        assert_eq!(told(Some(1), text), expected);
        assert_eq!(told(None, text), expected, "of the day's other tasks nothing is known");
    }

    #[test]
    fn a_test_that_aborts_is_its_tasks_failure() {
        let text = "running 2 tests\ntest parts::task_1_zeta ... ok\ntest parts::task_2_two ... \n\
                    error: test failed, to rerun pass `--test week1_day1`\n\nCaused by:\n  \
                    process didn't exit successfully: `/x` (signal: 6, SIGABRT: process abort \
                    signal)\n";
        let expected = "\
failed: week1-day1 task 2, Two (the test program stopped, 0.8 s)

two
the test program stopped here (signal: 6, SIGABRT: process abort signal)

read  book/src/week1/day1.md
";
        assert_eq!(told(None, text), expected);
    }

    #[test]
    fn a_stopped_test_program_shows_its_last_words() {
        let text = "running 2 tests\n\nmemory allocation of 9 bytes failed\n";
        assert_eq!(
            told(Some(1), text),
            "failed: week1-day1 task 1, One (the test program stopped, 0.8 s)\n\n\
             running 2 tests\nmemory allocation of 9 bytes failed\n\n\
             read  book/src/week1/day1.md\n"
        );
    }

    #[test]
    fn every_verdict_is_remembered() {
        let root = repository();
        write(root.path(), "tests/week1_day1.rs", TESTS);
        let (curriculum, id) = (curriculum(), TaskId { feature: "week1-day1".into(), task: 1 });
        let fingerprints = HashMap::from([(id.clone(), "f".to_owned())]);
        Trial::new(root.path(), curriculum.day("week1-day1").unwrap(), None, judged(OUTPUT))
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
}
