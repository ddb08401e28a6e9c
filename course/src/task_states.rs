//! The learner's progress: the state of each task, and the next one.
//!
//! A task's file shows how much of it is written. The last run shows whether the code is right, if
//! the code has not changed since.

use std::path::Path;

use anyhow::Result;

use crate::{
    curriculum::{Curriculum, Day, Task, TaskId},
    fingerprint,
    learner::State,
    record::{Record, Run},
    stubs::{Generated, generated},
    test_run::Verdict,
};

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The last run passed, and nothing has changed since.
    Passed,
    /// All functions are written. The last run failed, and nothing has changed since.
    Failed,
    /// The last run did not compile, and nothing has changed since.
    DoesNotCompile,
    /// Every function of the task is still a `todo!`.
    NotStarted,
    /// The task is partly written.
    Begun,
    /// Every function is written or borrowed, and at least one is borrowed.
    Borrowed,
    /// All functions are written, but there is no run of the present code.
    NotVerified(Reason),
    /// The task is for another processor architecture, so it is optional.
    Elsewhere,
}

/// Why a task is not verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// No run is recorded.
    NeverRun,
    /// The last run tested other code.
    Changed,
}

impl Mark {
    /// Returns the name of the state as it is shown. In JSON, hyphens replace its spaces.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::DoesNotCompile => "does not compile",
            Self::NotStarted => "not started",
            Self::Begun => "begun",
            Self::Borrowed => "borrowed",
            Self::NotVerified(_) => "not verified",
            Self::Elsewhere => "optional",
        }
    }

    /// Returns why a task is not verified, in words.
    pub(crate) fn reason(self) -> Option<&'static str> {
        match self {
            Self::NotVerified(Reason::NeverRun) => Some("never run"),
            Self::NotVerified(Reason::Changed) => Some("changed since the last run"),
            _ => None,
        }
    }
}

/// One task and its state.
#[derive(Debug)]
pub(crate) struct TaskStatus<'a> {
    pub(crate) day: &'a Day,
    pub(crate) id: TaskId,
    pub(crate) task: &'a Task,
    pub(crate) mark: Mark,
    /// The last run, even if it tested other code.
    pub(crate) run: Option<Run>,
    /// Number of hints seen, 0 to 3.
    pub(crate) hints: u8,
}

impl TaskStatus<'_> {
    /// Returns whether nothing is left to do in this task.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.mark, Mark::Passed | Mark::Borrowed) || !self.task.is_for_here()
    }

    /// Returns whether the last run passed, but files have changed since.
    fn has_passed(&self) -> bool {
        self.mark == Mark::NotVerified(Reason::Changed)
            && self.run.as_ref().is_some_and(|run| run.verdict == Verdict::Passed)
    }
}

/// The learner's progress.
#[derive(Debug)]
pub(crate) struct Status<'a> {
    pub(crate) tasks: Vec<TaskStatus<'a>>,
}

impl<'a> Status<'a> {
    /// Reads the learner's files and the record.
    ///
    /// # Errors
    /// If [`generated`] fails.
    pub(crate) fn read(root: &Path, curriculum: &'a Curriculum) -> Result<Self> {
        let (files, record, prints) =
            (generated(root, curriculum)?, Record::load(root), fingerprint::all(root, curriculum));
        let mut tasks = Vec::new();
        for day in curriculum.days() {
            for (id, task) in day.offered() {
                let entry = record.entry(&id);
                let file = files.iter().find(|file| file.path == task.file);
                let fresh = entry
                    .run
                    .as_ref()
                    .filter(|run| prints.get(&id) == Some(&run.fingerprint))
                    .map(|run| run.verdict);
                let mut mark = mark(written(file, task), fresh, entry.run.is_some());
                if mark == Mark::NotStarted && !task.is_for_here() {
                    mark = Mark::Elsewhere;
                }
                tasks.push(TaskStatus { day, id, task, mark, run: entry.run, hints: entry.hints });
            }
        }
        Ok(Self { tasks })
    }

    /// Returns the task to work on: the first open task from the learner's current day on, because
    /// a learner may begin in the middle of the course. If there is none, returns the first open
    /// task of the whole course.
    ///
    /// If a task passed but its files have changed since, it is chosen only if no other task is
    /// open. Without this rule, work on task 3 would lead back to task 1.
    pub(crate) fn current(&self) -> Option<&TaskStatus<'a>> {
        self.worked_on().map_or_else(|| first_open(self.tasks.iter()), |task| self.after(task.day))
    }

    /// Like [`Status::current`], but considers only the tasks of one day.
    pub(crate) fn current_of(&self, day: &Day) -> Option<&TaskStatus<'a>> {
        first_open(self.tasks.iter().filter(|task| day.feature == task.day.feature))
    }

    /// Like [`Status::current`], but considers only `tasks`. If `tasks` is a single task, returns
    /// it even if it is done.
    pub(crate) fn current_among(&self, tasks: &[(TaskId, &Task)]) -> Option<&TaskStatus<'a>> {
        let mut those = self.tasks.iter().filter(|own| tasks.iter().any(|(id, _)| *id == own.id));
        if tasks.len() == 1 { those.next() } else { first_open(those) }
    }

    /// Returns the first open task from `day` on or, if there is none, of the whole course.
    pub(crate) fn after(&self, day: &Day) -> Option<&TaskStatus<'a>> {
        first_open(self.tasks.iter().skip_while(|task| task.day.feature != day.feature))
            .or_else(|| first_open(self.tasks.iter()))
    }

    /// Returns the day that the learner is working on.
    pub(crate) fn day(&self) -> Option<&'a Day> {
        self.current().or_else(|| self.worked_on()).or(self.tasks.last()).map(|task| task.day)
    }

    /// Returns the task that the learner has worked on last: of the tasks that contain the
    /// learner's work, the one that ran last. If none of them ran, returns the last of them in the
    /// course. If there are none, returns the task that ran last.
    fn worked_on(&self) -> Option<&TaskStatus<'a>> {
        let theirs = |task: &&TaskStatus| {
            !matches!(task.mark, Mark::NotStarted | Mark::Borrowed | Mark::Elsewhere)
        };
        let time = |task: &&TaskStatus| task.run.as_ref().map(|run| run.at.clone());
        let ran = |task: &&TaskStatus| task.run.is_some();
        let mut theirs = self.tasks.iter().filter(theirs);
        (theirs.clone().filter(ran).max_by_key(time))
            .or_else(|| theirs.next_back())
            .or_else(|| self.tasks.iter().filter(ran).max_by_key(time))
    }
}

fn first_open<'s, 'a>(
    tasks: impl Iterator<Item = &'s TaskStatus<'a>> + Clone,
) -> Option<&'s TaskStatus<'a>> {
    let mut open = tasks.filter(|task| !task.is_done());
    open.clone().find(|task| !task.has_passed()).or_else(|| open.next())
}

/// How much of a task the learner has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Nothing,
    Partly,
    All,
    Borrowed,
}

fn written(file: Option<&Generated>, task: &Task) -> Written {
    let Some(file) = file.filter(|file| file.current.is_some()) else { return Written::Nothing };
    let states: Vec<State> = task.functions.iter().map(|function| file.state(function)).collect();
    if states.iter().all(|state| *state == State::Written) {
        Written::All
    } else if states.iter().all(|state| matches!(state, State::Written | State::Borrowed)) {
        Written::Borrowed
    } else if states.iter().all(|state| matches!(state, State::Untouched | State::Stale)) {
        Written::Nothing
    } else {
        Written::Partly
    }
}

fn mark(written: Written, fresh: Option<Verdict>, ran: bool) -> Mark {
    match (written, fresh) {
        (Written::Borrowed, _) => Mark::Borrowed,
        (_, Some(Verdict::Passed)) => Mark::Passed,
        (Written::Nothing, _) => Mark::NotStarted,
        (_, Some(Verdict::DoesNotCompile)) => Mark::DoesNotCompile,
        (Written::Partly, _) => Mark::Begun,
        (Written::All, Some(Verdict::Failed)) => Mark::Failed,
        (Written::All, None) => {
            Mark::NotVerified(if ran { Reason::Changed } else { Reason::NeverRun })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::testing::{A, curriculum, repository, write};

    const ONE: &str = "todo!(\"week1-day1 task 1: one\")";
    const TWO: &str = "todo!(\"week1-day1 task 2: Two::two\")";

    fn stub() -> String {
        crate::template::Template::parse("reference/src/week1/a.rs", A, &curriculum())
            .unwrap()
            .stub()
    }

    /// Creates a repository with `a` as its `a.rs`, and with records of `runs`. A run is a task's
    /// number, a verdict, and whether the code has changed since. Returns the tasks' marks and the
    /// current task.
    fn of(a: &str, runs: &[(usize, Verdict, bool)]) -> (Vec<Mark>, Option<String>) {
        let (root, curriculum) = (repository(), curriculum());
        crate::stubs::write(root.path(), &curriculum, false).unwrap();
        write(root.path(), "src/week1/a.rs", a);
        let prints = fingerprint::all(root.path(), &curriculum);
        Record::update(root.path(), |record| {
            for &(task, verdict, stale) in runs {
                let id = TaskId { feature: "week1-day1".into(), task };
                let fingerprint = if stale { "another".to_owned() } else { prints[&id].clone() };
                record.ran(&id, Run::now(verdict, Duration::ZERO, None, fingerprint));
            }
        });
        let status = Status::read(root.path(), &curriculum).unwrap();
        (
            status.tasks.iter().map(|task| task.mark).collect(),
            status.current().map(|task| task.id.to_string()),
        )
    }

    #[test]
    fn derives_marks_from_files_and_the_last_run() {
        use Mark::{Begun, Borrowed, DoesNotCompile, Failed, NotStarted, NotVerified, Passed};
        let (never, changed) = (NotVerified(Reason::NeverRun), NotVerified(Reason::Changed));
        let stub = stub();
        let one = stub.replace(ONE, "1");
        let both = one.replace(TWO, "2");
        let begun = one.replace(TWO, &format!("let two = 2;\n        {TWO}"));
        let borrowed =
            stub.replace(ONE, "// BORROWED week1-day1 task 1\n    1\n    // END BORROWED");
        let (passed, failed, broken) = (Verdict::Passed, Verdict::Failed, Verdict::DoesNotCompile);
        for (a, runs, marks, current) in [
            (&stub, &[][..], [NotStarted, NotStarted], 1),
            (&stub, &[(1, failed, false), (2, broken, false)], [NotStarted, NotStarted], 1),
            (&one, &[], [never, NotStarted], 1),
            (&one, &[(1, passed, false)], [Passed, NotStarted], 2),
            (&one, &[(1, failed, false)], [Failed, NotStarted], 1),
            (&one, &[(1, failed, true)], [changed, NotStarted], 1),
            (&one, &[(1, passed, true)], [changed, NotStarted], 2),
            (&begun, &[(1, passed, false), (2, failed, false)], [Passed, Begun], 2),
            (&begun, &[(1, passed, false), (2, broken, false)], [Passed, DoesNotCompile], 2),
            (&both, &[(1, passed, true), (2, broken, false)], [changed, DoesNotCompile], 2),
            (&borrowed, &[(1, failed, false)], [Borrowed, NotStarted], 2),
            (
                &one.replace("pub fn one() -> u32 {\n    1\n}", "pub fn one() -> u32 { 1 }"),
                &[],
                [Begun, NotStarted],
                1,
            ),
        ] {
            let (found, next) = of(a, runs);
            assert_eq!(found[..2], marks, "{runs:?}\n{a}");
            assert_eq!(next.unwrap(), format!("week1-day1 task {current}"), "{runs:?}\n{a}");
        }
    }

    #[test]
    fn offers_changed_passed_tasks_last() {
        let both = stub().replace(ONE, "1").replace(TWO, "2");
        let (_, next) = of(&both, &[(1, Verdict::Passed, true), (2, Verdict::Passed, true)]);
        assert_eq!(next.as_deref(), Some("week1-day2 task 1"), "other open tasks come first");
    }

    #[test]
    fn after_continues_from_the_given_day() {
        let (root, curriculum) = (repository(), curriculum());
        crate::stubs::write(root.path(), &curriculum, false).unwrap();
        let mut status = Status::read(root.path(), &curriculum).unwrap();
        let after = |status: &Status, day: &str| {
            status.after(curriculum.day(day).unwrap()).map(|task| task.id.to_string())
        };
        assert_eq!(after(&status, "week1-day2").as_deref(), Some("week1-day2 task 1"));
        status.tasks[2].mark = Mark::Passed;
        assert_eq!(
            after(&status, "week1-day2").as_deref(),
            Some("week1-day1 task 1"),
            "no later task is open"
        );
        status.tasks[0].mark = Mark::Passed;
        assert_eq!(after(&status, "week1-day1").as_deref(), Some("week1-day1 task 2"));
    }

    #[test]
    fn current_task_follows_the_last_worked_day() {
        let (root, curriculum) = (repository(), curriculum());
        crate::stubs::write(root.path(), &curriculum, false).unwrap();
        let next = || {
            let status = Status::read(root.path(), &curriculum).unwrap();
            status.current().map(|task| task.id.to_string()).unwrap_or_default()
        };
        let ran = |day: &str, at: &str| {
            Record::update(root.path(), |record| {
                let run = Run::now(Verdict::Failed, Duration::ZERO, None, "f".into());
                let id = TaskId { feature: day.into(), task: 1 };
                record.ran(&id, Run { at: at.into(), ..run });
            });
        };
        assert_eq!(next(), "week1-day1 task 1");
        ran("week1-day2", "2026-03-09T07:05:00Z");
        assert_eq!(next(), "week1-day2 task 1", "day 2 ran last, and no task is written");
        write(root.path(), "src/week1/a.rs", &stub().replace(ONE, "1"));
        assert_eq!(next(), "week1-day1 task 1", "written work counts more than a run of a stub");
        ran("week1-day1", "2026-03-09T07:04:00Z");
        write(root.path(), "src/week1/b.rs", "pub fn three() -> u32 {\n    4\n}\n");
        assert_eq!(next(), "week1-day2 task 1", "it ran last");
        ran("week1-day1", "2026-03-09T07:06:00Z");
        assert_eq!(next(), "week1-day1 task 1");
    }
}
