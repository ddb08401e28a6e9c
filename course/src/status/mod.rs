//! `cargo course` and `cargo course status`: weeks, days and tasks, how far each has come, and the
//! next step.
//!
//! How far a task is written is read off the learner's files; whether it is right is what the last
//! run said, and only while those files are what they were.

use std::{path::Path, time::SystemTime};

use anyhow::Result;

use crate::{
    curriculum::{Curriculum, Day, Task, TaskId},
    fingerprint,
    ink::Ink,
    judge::Verdict,
    learner::State,
    record::{HINTS, Record, Run},
    stubs::{Generated, generated},
};

mod json;

/// How far a task has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The last run passed, and nothing has changed since.
    Passed,
    /// The last run failed, and nothing has changed since.
    Failed,
    /// There was nothing to run, and nothing has changed since.
    DoesNotCompile,
    /// Every function is still its `todo!`.
    NotStarted,
    /// Some of it is written.
    Begun,
    /// The reference's solution stands in.
    Borrowed,
    /// Written, but not run since.
    NotVerified(Reason),
}

/// Why a task is not verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// No run is recorded.
    NeverRun,
    /// The recorded run judged other code.
    Changed,
}

impl Mark {
    /// As it is shown and as the JSON has it, with spaces there replaced by hyphens.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::DoesNotCompile => "does not compile",
            Self::NotStarted => "not started",
            Self::Begun => "begun",
            Self::Borrowed => "borrowed",
            Self::NotVerified(_) => "not verified",
        }
    }

    fn reason(self) -> Option<&'static str> {
        match self {
            Self::NotVerified(Reason::NeverRun) => Some("never run"),
            Self::NotVerified(Reason::Changed) => Some("changed since the last run"),
            _ => None,
        }
    }

    fn painted(self, ink: Ink, text: &str) -> String {
        match self {
            Self::Passed => ink.green(text),
            Self::Failed | Self::DoesNotCompile => ink.red(text),
            Self::Begun | Self::Borrowed | Self::NotVerified(_) => ink.yellow(text),
            Self::NotStarted => text.to_owned(),
        }
    }
}

/// One task and where it stands.
#[derive(Debug)]
pub(crate) struct TaskStatus<'a> {
    pub(crate) day: &'a Day,
    pub(crate) id: TaskId,
    pub(crate) task: &'a Task,
    pub(crate) mark: Mark,
    /// The last run, of whatever code it was.
    pub(crate) run: Option<Run>,
    /// Hints seen, 0 to [`HINTS`].
    pub(crate) hints: u8,
}

impl TaskStatus<'_> {
    /// Whether nothing is left to do.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.mark, Mark::Passed | Mark::Borrowed)
    }

    /// Passed when it last ran, but not verified since.
    fn has_passed(&self) -> bool {
        self.mark == Mark::NotVerified(Reason::Changed)
            && self.run.as_ref().is_some_and(|run| run.verdict == Verdict::Passed)
    }
}

/// Where the learner stands.
#[derive(Debug)]
pub(crate) struct Status<'a> {
    pub(crate) tasks: Vec<TaskStatus<'a>>,
}

impl<'a> Status<'a> {
    /// Reads the learner's files and the record.
    ///
    /// # Errors
    /// As [`generated`].
    pub(crate) fn read(root: &Path, curriculum: &'a Curriculum) -> Result<Self> {
        let (files, record, prints) =
            (generated(root, curriculum)?, Record::load(root), fingerprint::all(root, curriculum));
        let mut tasks = Vec::new();
        for day in curriculum.days() {
            for (id, task) in day.tasks() {
                let entry = record.entry(&id);
                let file = files.iter().find(|file| file.path == task.file);
                let fresh = entry
                    .run
                    .as_ref()
                    .filter(|run| prints.get(&id) == Some(&run.fingerprint))
                    .map(|run| run.verdict);
                let mark = mark(written(file, task), fresh, entry.run.is_some());
                tasks.push(TaskStatus { day, id, task, mark, run: entry.run, hints: entry.hints });
            }
        }
        Ok(Self { tasks })
    }

    /// The task to work on, of one day or of all: the first that is not done. One that passed, and
    /// whose files have changed since, is chosen only if no other is left: otherwise work on task 3
    /// would lead back to task 1.
    pub(crate) fn current(&self, day: Option<&Day>) -> Option<&TaskStatus<'a>> {
        first_open(
            self.tasks.iter().filter(|task| day.is_none_or(|day| day.feature == task.day.feature)),
        )
    }

    /// The task to work on after one of that day: the first that is not done of this day or of
    /// those behind it, as a course may be begun in its middle; if there is none, the first of all.
    fn after(&self, day: &Day) -> Option<&TaskStatus<'a>> {
        first_open(self.tasks.iter().skip_while(|task| task.day.feature != day.feature))
            .or_else(|| self.current(None))
    }
}

fn first_open<'s, 'a>(
    tasks: impl Iterator<Item = &'s TaskStatus<'a>> + Clone,
) -> Option<&'s TaskStatus<'a>> {
    let mut open = tasks.filter(|task| !task.is_done());
    open.clone().find(|task| !task.has_passed()).or_else(|| open.next())
}

/// What stands in the learner's file.
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

/// Prints the course and the next step; as JSON if asked.
///
/// # Errors
/// As [`Status::read`].
pub(crate) fn print(root: &Path, curriculum: &Curriculum, as_json: bool) -> Result<()> {
    let status = Status::read(root, curriculum)?;
    if as_json {
        println!("{}", json::text(curriculum, &status)?);
    } else {
        print!(
            "{}\n{}",
            text(curriculum, &status, Ink::of_stdout(), SystemTime::now()),
            next(&status)
        );
    }
    Ok(())
}

/// Prints the next step: `cargo course next`.
///
/// # Errors
/// As [`Status::read`].
pub(crate) fn print_next(root: &Path, curriculum: &Curriculum) -> Result<()> {
    print!("{}", next(&Status::read(root, curriculum)?));
    Ok(())
}

/// The list of weeks, days and tasks, in 80 columns.
pub(crate) fn text(curriculum: &Curriculum, status: &Status, ink: Ink, now: SystemTime) -> String {
    let mut text = String::new();
    for week in &curriculum.weeks {
        text += &format!("{}\n", ink.bold(&format!("Week {}: {}", week.number, week.title)));
        for day in &week.days {
            text += &format!("\n{}  {}\n", day.feature, day.title);
            for task in status.tasks.iter().filter(|task| task.day.feature == day.feature) {
                text += &row(task, ink, now);
            }
        }
        text += "\n";
    }
    text.truncate(text.trim_end_matches('\n').len() + 1);
    text
}

fn row(status: &TaskStatus, ink: Ink, now: SystemTime) -> String {
    let name = format!("  {}. {:<38} ", status.id.task, status.task.title);
    let words = status.mark.words();
    let hints = match status.hints {
        0 => String::new(),
        1 => "1 hint".to_owned(),
        seen => format!("{seen} hints"),
    };
    let (reason, ago) = match (status.mark.reason(), &status.run) {
        (Some(reason), None) => (format!(" ({reason})"), String::new()),
        (Some(reason), Some(run)) => (format!("\n{:44}({reason})", ""), run.ago(now)),
        (None, run) => (String::new(), run.as_ref().map(|run| run.ago(now)).unwrap_or_default()),
    };
    if ago.is_empty() && !reason.is_empty() {
        return format!("{name}{}{} {hints}", status.mark.painted(ink, words), ink.dim(&reason))
            .trim_end()
            .to_owned()
            + "\n";
    }
    let mark = status.mark.painted(ink, &format!("{words:<16}"));
    let row = format!("{name}{mark} {ago:<10} {hints}");
    row.trim_end().to_owned() + &ink.dim(&reason) + "\n"
}

/// The next step, with its file, chapter and command.
pub(crate) fn next(status: &Status) -> String {
    step(status.current(None))
}

/// The next step for who has just worked on that day.
pub(crate) fn next_after(status: &Status, day: &Day) -> String {
    step(status.after(day))
}

fn step(task: Option<&TaskStatus>) -> String {
    task.map_or(
        "Every task has passed or is borrowed. Check a day again: cargo course test week1-day1\n"
            .to_owned(),
        brief,
    )
}

/// A task's goal, file, functions, chapter and commands.
pub(crate) fn brief(status: &TaskStatus) -> String {
    let TaskStatus { day, id, task, .. } = status;
    if let Mark::NotVerified(reason) = status.mark {
        let why = match reason {
            Reason::NeverRun => "never checked",
            Reason::Changed => "not checked since something it depends on has changed",
        };
        let test = format!("cargo course test {} {}", day.feature, id.task);
        return format!(
            "Next: {id}, {}\n  written, but {why}\n  check  cargo course watch, or {test}\n  read   {}\n",
            task.title, day.chapter
        );
    }
    let hint = match status.hints {
        0 => "(the first of three)".to_owned(),
        HINTS => "(all three again)".to_owned(),
        seen => format!("(hint {} of {HINTS})", seen + 1),
    };
    format!(
        "Next: {id}, {}\n{}\n  write  {} in {}\n  read   {} (cargo course book)\n  check  cargo course watch, or cargo course test {} {}\n  stuck  cargo course hint {} {} {hint}\n",
        task.title,
        wrapped(&task.goal),
        task.functions.join(", "),
        task.file,
        day.chapter,
        day.feature,
        id.task,
        day.feature,
        id.task,
    )
}

/// A text in lines of at most 78 characters, indented by two.
pub(crate) fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            *line = format!("  {word}");
        } else if line.chars().count() + 1 + word.chars().count() <= 78 {
            *line += " ";
            *line += word;
        } else {
            lines.push(format!("  {word}"));
        }
    }
    lines.join("\n")
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

    /// A repository whose `a.rs` is that text, and its marks and current task after the runs:
    /// (task, verdict, whether before the last edit).
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
            status.current(None).map(|task| task.id.to_string()),
        )
    }

    #[test]
    fn marks_come_of_the_files_and_the_last_run() {
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
    fn a_day_that_passed_is_checked_again_last() {
        let both = stub().replace(ONE, "1").replace(TWO, "2");
        let (_, next) = of(&both, &[(1, Verdict::Passed, true), (2, Verdict::Passed, true)]);
        assert_eq!(next.as_deref(), Some("week1-day2 task 1"), "first what never passed");
    }

    #[test]
    fn who_begins_in_the_middle_goes_on_from_there() {
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
            "nothing is open behind it"
        );
        status.tasks[0].mark = Mark::Passed;
        assert_eq!(after(&status, "week1-day1").as_deref(), Some("week1-day1 task 2"));
    }

    #[test]
    fn the_list_fits_80_columns() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let curriculum = Curriculum::load(root).unwrap();
        let mut status = Status::read(root, &curriculum).unwrap();
        let (now, mut all) = (SystemTime::now(), String::new());
        for mark in [
            Mark::NotVerified(Reason::Changed),
            Mark::DoesNotCompile,
            Mark::NotVerified(Reason::NeverRun),
        ] {
            for task in &mut status.tasks {
                task.mark = mark;
                task.hints = 3;
                let ran = mark != Mark::NotVerified(Reason::NeverRun);
                task.run =
                    ran.then(|| Run::now(Verdict::Passed, Duration::ZERO, None, String::new()));
            }
            all += &text(&curriculum, &status, Ink::plain(), now + Duration::from_secs(3_590));
        }
        for row in [
            "  1. Softmax and linear                     not verified     59 min ago 3 hints\n                                            (changed since the last run)\n",
            "  1. Softmax and linear                     does not compile 59 min ago 3 hints\n",
            "  1. Softmax and linear                     not verified (never run) 3 hints\n",
        ] {
            assert!(all.contains(row), "{all}");
        }
        status.tasks.iter().for_each(|task| all += &brief(task));
        let long: Vec<&str> = all
            .lines()
            .filter(|line| line.chars().count() > 80 && !line.starts_with("  write "))
            .collect();
        assert_eq!(long, [""; 0]);
    }
}
