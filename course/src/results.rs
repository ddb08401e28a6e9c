//! Runs the tests of a task or a day, describes the result and records it.

use std::{collections::HashMap, fs, path::Path};

use crate::{
    curriculum::{Day, Task, TaskId},
    explain::{self, Failure},
    ink::Ink,
    libtest::{task_of_test, tests_of_tasks},
    record::{Record, Run},
    test_run::{TestRun, Verdict},
};

/// The results of a finished run.
pub(crate) struct Results<'a> {
    day: &'a Day,
    /// Results of the tasks that ran, in order.
    pub(crate) tasks: Vec<TaskResult<'a>>,
    test_run: TestRun,
}

/// The verdict on one task.
pub(crate) struct TaskResult<'a> {
    pub(crate) id: TaskId,
    task: &'a Task,
    pub(crate) verdict: Verdict,
    /// Number of tests that ran.
    ran: usize,
    /// Names of the failed tests: first those with a diagnosis, then all others. Both groups are in
    /// the order of the test files.
    failing: Vec<String>,
}

impl<'a> Results<'a> {
    /// Groups a run's tests by task. `only` is the requested task. `None` means the whole day.
    pub(crate) fn new(root: &Path, day: &'a Day, only: Option<usize>, test_run: TestRun) -> Self {
        let files = day.test_files(root);
        let texts: String =
            files.iter().filter_map(|file| fs::read_to_string(root.join(file)).ok()).collect();
        let order: Vec<&str> = tests_of_tasks(&texts).collect();
        let place = |name: &str| order.iter().position(|test| *test == name).unwrap_or(usize::MAX);
        // If a test program was stopped, only the task that stopped it gets a verdict. For a whole
        // day, only the tasks that this machine's processor can run get one.
        let only = test_run.report.stopped_by.or(only);
        let chosen = day
            .tasks()
            .filter(|(id, task)| only.map_or_else(|| task.is_for_here(), |only| only == id.task));
        let tasks = chosen.map(|(id, task)| {
            let mine: Vec<(&String, bool)> = test_run
                .report
                .passed
                .iter()
                .filter(|(name, _)| task_of_test(name) == Some(id.task))
                .map(|(name, passed)| (name, *passed))
                .collect();
            let failed = mine.iter().filter(|(_, passed)| !passed);
            let mut failing: Vec<String> = failed.map(|(name, _)| (*name).clone()).collect();
            let is_named = |name: &str| {
                explain::diagnosis(&Failure::of(&test_run.report, name).message).is_some()
            };
            failing.sort_by_cached_key(|name| (!is_named(name), place(name)));
            TaskResult { verdict: test_run.of_task(id.task), ran: mine.len(), failing, id, task }
        });
        Self { tasks: tasks.collect(), day, test_run }
    }

    /// Returns whether all tasks passed.
    pub(crate) fn passed(&self) -> bool {
        self.tasks.iter().all(|task| task.verdict == Verdict::Passed)
    }

    /// Writes the verdicts to the record. Uses the fingerprints from before the run, because the
    /// run did not test changes that were saved while it was running.
    pub(crate) fn remember(&self, root: &Path, fingerprints: &HashMap<TaskId, String>) {
        Record::update(root, |record| {
            for task in &self.tasks {
                let fingerprint = fingerprints.get(&task.id).cloned().unwrap_or_default();
                record.ran(
                    &task.id,
                    Run::now(
                        task.verdict,
                        self.test_run.duration,
                        task.failing.first().cloned(),
                        fingerprint,
                    ),
                );
            }
        });
    }

    /// Formats the verdicts, one line each, and the complete first failure. The text has several
    /// paragraphs and ends with a line feed.
    pub(crate) fn tell(&self, ink: Ink) -> String {
        if self.test_run.verdict == Verdict::DoesNotCompile {
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
            text += &format!("{}\n", ink.dim(&format!("{} in total", self.seconds())));
        }
        text
    }

    /// Formats the verdict on one task and its first failure, in the format of [`Results::tell`].
    pub(crate) fn tell_task(&self, id: &TaskId, ink: Ink) -> String {
        if self.test_run.verdict == Verdict::DoesNotCompile {
            return self.tell_compile_errors(ink);
        }
        self.tasks
            .iter()
            .find(|task| task.id == *id)
            .map_or(String::new(), |task| self.line(task, ink) + &self.detail(task, ink))
    }

    /// Returns whether the task has failed for a reason other than the `todo!` of a stub.
    pub(crate) fn has_failed_since_begun(&self, id: &TaskId) -> bool {
        self.tasks.iter().any(|task| {
            task.id == *id && task.verdict != Verdict::Passed && !self.is_not_started(task)
        })
    }

    /// Returns whether a task's first failure is the `todo!` of a stub.
    fn is_not_started(&self, task: &TaskResult) -> bool {
        task.failing
            .first()
            .and_then(|test| explain::open_stub(&self.test_run.report, test))
            .is_some()
    }

    /// Returns the day and the task's number in `stub`, a stub's message. Returns `None` if the day
    /// is the one that was run.
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
        format!("{mark}: {what}\n\n{}\n", explain::compile_errors(&self.test_run.text))
    }

    /// Formats the time of build and tests.
    fn seconds(&self) -> String {
        format!("{:.1} s", self.test_run.duration.as_secs_f64())
    }

    fn line(&self, task: &TaskResult, ink: Ink) -> String {
        let name = format!("{}, {}", task.id, task.task.title);
        // The tasks of a whole day have one common time, which is shown at the end.
        let seconds =
            if self.tasks.len() == 1 { format!(", {}", self.seconds()) } else { String::new() };
        match task.failing.first().and_then(|test| explain::open_stub(&self.test_run.report, test))
        {
            _ if task.verdict == Verdict::Passed => {
                format!(
                    "{}: {name} {}\n",
                    ink.green("passed"),
                    ink.dim(&format!("({}{seconds})", explain::counted(task.ran, "test")))
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
                let what = if self.test_run.report.closing.is_empty() {
                    "the test program stopped".to_owned()
                } else {
                    format!("{} of {} tests fail", task.failing.len(), task.ran)
                };
                let what = ink.dim(&format!("({what}{seconds})"));
                format!("{}: {name} {what}\n", ink.red("failed"))
            }
        }
    }

    fn detail(&self, task: &TaskResult, ink: Ink) -> String {
        let Some((first, others)) = task.failing.split_first() else {
            return if task.verdict == Verdict::Failed {
                format!("\n{}\n\nread  {}\n", explain::tail(&self.test_run.text), self.day.chapter)
            } else {
                String::new()
            };
        };
        let failure = Failure::of(&self.test_run.report, first);
        let mut text = format!("\n{}\n", ink.bold(&explain::words(first)));
        if explain::open_stub(&self.test_run.report, first).is_none() {
            text += &format!("{}\n", failure.message);
        }
        text += "\n";
        if let Some(place) = &failure.place {
            let what = if place.starts_with("tests/") { "test" } else { "at" };
            text += &format!("{what:<5} {place}\n");
        }
        match explain::open_stub(&self.test_run.report, first)
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

    /// Formats the failed tests in `others` with their diagnoses. Omits repeated diagnoses and
    /// `said`, which was already shown. Combines tests that stop at a stub into one line.
    fn also_red(&self, others: &[String], said: Option<&str>, ink: Ink) -> String {
        let (stubs, wrong): (Vec<&String>, Vec<&String>) = others
            .iter()
            .partition(|test| explain::open_stub(&self.test_run.report, test).is_some());
        let mut text = String::new();
        if !wrong.is_empty() {
            text += &format!("\nalso {}:\n", ink.red("failed"));
            let mut said: Vec<String> = said.into_iter().map(str::to_owned).collect();
            for test in wrong {
                text += &format!("  {}\n", explain::words(test));
                let failure = Failure::of(&self.test_run.report, test);
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
            text += &format!("\n{number} {verb} at a task that you haven't started.\n");
        }
        text
    }
}

#[cfg(test)]
mod tests;
