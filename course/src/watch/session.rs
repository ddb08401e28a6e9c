//! Decides what `cargo course watch` does next: it receives events and returns actions. It accesses
//! no file, process or terminal.
//!
//! A save runs the current task. If the task passes, all tasks of the day run. Then the next open
//! task becomes current, or one that passed before and now fails. A save during a run cancels the
//! run and starts a new one.

use crate::curriculum::TaskId;

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// A file under `src/` was saved.
    Saved,
    /// A key was pressed.
    Key(Key),
    /// The run with this number ended. `passed` holds each task that ran, and whether it passed.
    Finished { run: u64, passed: Vec<(TaskId, bool)> },
}

/// A request that the learner makes by pressing a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Hint,
    List,
    Next,
    Back,
    All,
    Again,
    Chapter,
    Help,
    Quit,
}

/// An action to execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// Stop the current run.
    Cancel,
    /// Start run number `run`: the tests of `task` or, without a task, of the whole day.
    Start { run: u64, day: String, task: Option<usize> },
    /// Show the verdicts of the run that just ended.
    Tell,
    /// Show the result of one task that passed before and failed in the run that just ended.
    Regressed(TaskId),
    /// This task is now current. If it is begun, show its first failure, otherwise its goal.
    GoTo(TaskId),
    /// Every task of the day has passed.
    DayDone(String),
    /// No task is left.
    AllDone,
    /// There is no next task (`n`) or no previous task (`p`).
    NoFurther,
    /// Show the task's next hint.
    Hint(TaskId),
    /// Show the learner's progress.
    List,
    /// Show where to read about the task.
    Chapter(TaskId),
    /// Show the keys.
    Keys,
    /// End the program.
    Quit,
}

/// Why a run was started. This determines the next action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// The learner saved or pressed `r`, or the program has just started. The current task runs.
    Work,
    /// The learner pressed `n` or `p`. The task that became current runs.
    Moved,
    /// The current task has passed. All tasks of its day run.
    Follows,
    /// The learner pressed `a`. All tasks of the day run.
    All,
}

/// A watched task, and whether it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Watched {
    pub(crate) id: TaskId,
    /// Whether nothing is left to do in the task, because it has passed, is borrowed or is
    /// optional.
    pub(crate) done: bool,
}

/// The state between two events: the watched tasks, and which run is in progress.
#[derive(Debug)]
pub(crate) struct Session {
    /// The tasks that are watched, in order. Never empty.
    tasks: Vec<Watched>,
    current: usize,
    running: Option<(u64, Cause)>,
    runs: u64,
    /// Whether the current task was announced but has not run yet. If so, `n` runs this task, not
    /// the one after it.
    announced: bool,
}

impl Session {
    /// Creates a session that begins with task `current`.
    pub(crate) fn new(tasks: Vec<Watched>, current: &TaskId) -> Self {
        let current = tasks.iter().position(|task| task.id == *current).unwrap_or(0);
        Self { tasks, current, running: None, runs: 0, announced: false }
    }

    /// Returns the actions that start the first run.
    pub(crate) fn begin(&mut self) -> Vec<Action> {
        self.start(Cause::Work)
    }

    /// Handles an event. Returns the actions that it causes.
    pub(crate) fn handle(&mut self, event: Event) -> Vec<Action> {
        let current = self.id().clone();
        match event {
            Event::Saved | Event::Key(Key::Again) => self.start(Cause::Work),
            Event::Key(Key::All) => self.start(Cause::All),
            Event::Key(Key::Next) if self.announced => self.start(Cause::Moved),
            Event::Key(Key::Next) => self.step(self.current + 1),
            Event::Key(Key::Back) => self.step(self.current.wrapping_sub(1)),
            Event::Key(Key::Hint) => vec![Action::Hint(current)],
            Event::Key(Key::Chapter) => vec![Action::Chapter(current)],
            Event::Key(Key::List) => vec![Action::List],
            Event::Key(Key::Help) => vec![Action::Keys],
            Event::Key(Key::Quit) => self.cancelled().chain([Action::Quit]).collect(),
            Event::Finished { run, passed } => match self.running {
                Some((running, cause)) if running == run => {
                    self.running = None;
                    self.finished(cause, &passed)
                }
                // The run was cancelled.
                _ => Vec::new(),
            },
        }
    }

    fn id(&self) -> &TaskId {
        &self.tasks[self.current].id
    }

    fn cancelled(&mut self) -> impl Iterator<Item = Action> + use<> {
        self.running.take().map(|_| Action::Cancel).into_iter()
    }

    fn start(&mut self, cause: Cause) -> Vec<Action> {
        let cancelled = self.cancelled();
        self.announced = false;
        self.runs += 1;
        self.running = Some((self.runs, cause));
        let TaskId { feature, task } = self.id().clone();
        let task = matches!(cause, Cause::Work | Cause::Moved).then_some(task);
        cancelled.chain([Action::Start { run: self.runs, day: feature, task }]).collect()
    }

    fn step(&mut self, to: usize) -> Vec<Action> {
        if to >= self.tasks.len() {
            return vec![Action::NoFurther];
        }
        self.current = to;
        self.start(Cause::Moved)
    }

    fn finished(&mut self, cause: Cause, passed: &[(TaskId, bool)]) -> Vec<Action> {
        let mut regressed = None;
        for (id, passed) in passed {
            let Some(at) = self.tasks.iter().position(|task| task.id == *id) else { continue };
            if self.tasks[at].done && !passed && regressed.is_none() {
                regressed = Some(at);
            }
            self.tasks[at].done = *passed;
        }
        let all_passed = passed.iter().all(|(_, passed)| *passed);
        match cause {
            Cause::Work if all_passed => {
                let mut actions = vec![Action::Tell];
                actions.extend(self.start(Cause::Follows));
                actions
            }
            Cause::Work | Cause::Moved => vec![Action::Tell, Action::Keys],
            Cause::All if all_passed => [vec![Action::Tell], self.day_done()].concat(),
            Cause::All => vec![Action::Tell, Action::Keys],
            Cause::Follows if all_passed => self.day_done(),
            Cause::Follows => match regressed {
                Some(at) => {
                    self.current = at;
                    vec![Action::Regressed(self.id().clone()), Action::Keys]
                }
                None => self.go_on(),
            },
        }
    }

    fn day_done(&mut self) -> Vec<Action> {
        let mut actions = vec![Action::DayDone(self.id().feature.clone())];
        actions.extend(self.go_on());
        actions
    }

    /// Moves to the next task that is not done. Looks first at all tasks of the day, then at later
    /// days, then at earlier ones.
    fn go_on(&mut self) -> Vec<Action> {
        let (day, here) = (self.id().feature.clone(), self.current);
        let after = (here + 1..self.tasks.len()).chain(0..here);
        let open: Vec<usize> = after.filter(|&at| !self.tasks[at].done).collect();
        let next = open.iter().find(|&&at| self.tasks[at].id.feature == day).or(open.first());
        match next {
            Some(&at) => {
                self.current = at;
                self.announced = true;
                vec![Action::GoTo(self.id().clone()), Action::Keys]
            }
            None => vec![Action::AllDone, Action::Keys],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(day: usize, task: usize) -> TaskId {
        TaskId { feature: format!("week1-day{day}"), task }
    }

    /// Creates a session with two tasks on day 1 and one on day 2, none of them done.
    fn session() -> Session {
        Session::new(
            [id(1, 1), id(1, 2), id(2, 1)].map(|id| Watched { id, done: false }).to_vec(),
            &id(1, 1),
        )
    }

    fn start(run: u64, day: usize, task: impl Into<Option<usize>>) -> Action {
        Action::Start { run, day: format!("week1-day{day}"), task: task.into() }
    }

    fn finished(run: u64, passed: &[(usize, usize, bool)]) -> Event {
        Event::Finished {
            run,
            passed: passed.iter().map(|&(day, task, passed)| (id(day, task), passed)).collect(),
        }
    }

    #[test]
    fn runs_the_day_and_moves_on_after_a_task_passes() {
        let mut session = session();
        assert_eq!(session.begin(), [start(1, 1, 1)]);
        assert_eq!(session.handle(finished(1, &[(1, 1, false)])), [Action::Tell, Action::Keys]);
        assert_eq!(session.handle(Event::Saved), [start(2, 1, 1)]);
        assert_eq!(session.handle(finished(2, &[(1, 1, true)])), [Action::Tell, start(3, 1, None)]);
        assert_eq!(
            session.handle(finished(3, &[(1, 1, true), (1, 2, false)])),
            [Action::GoTo(id(1, 2)), Action::Keys]
        );
        assert_eq!(session.handle(Event::Saved), [start(4, 1, 2)]);
        assert_eq!(session.handle(finished(4, &[(1, 2, true)])), [Action::Tell, start(5, 1, None)]);
        let done = [Action::DayDone("week1-day1".into()), Action::GoTo(id(2, 1)), Action::Keys];
        assert_eq!(session.handle(finished(5, &[(1, 1, true), (1, 2, true)])), done);
        assert_eq!(session.handle(Event::Saved), [start(6, 2, 1)]);
        assert_eq!(session.handle(finished(6, &[(2, 1, true)])), [Action::Tell, start(7, 2, None)]);
        assert_eq!(
            session.handle(finished(7, &[(2, 1, true)])),
            [Action::DayDone("week1-day2".into()), Action::AllDone, Action::Keys]
        );
    }

    #[test]
    fn next_key_runs_the_announced_task() {
        let mut session = session();
        session.begin();
        session.handle(finished(1, &[(1, 1, true)]));
        let passed = [(1, 1, true), (1, 2, false)];
        let announced = [Action::GoTo(id(1, 2)), Action::Keys];
        assert_eq!(session.handle(finished(2, &passed)), announced);
        assert_eq!(session.handle(Event::Key(Key::Next)), [start(3, 1, 2)], "not the one after it");
        session.handle(finished(3, &[(1, 2, false)]));
        assert_eq!(session.handle(Event::Key(Key::Next)), [start(4, 2, 1)]);
    }

    #[test]
    fn a_save_during_a_run_cancels_it_and_starts_another() {
        let mut session = session();
        session.begin();
        assert_eq!(session.handle(Event::Saved), [Action::Cancel, start(2, 1, 1)]);
        assert_eq!(session.handle(finished(1, &[(1, 1, true)])), []);
        assert_eq!(session.handle(finished(2, &[(1, 1, true)])), [Action::Tell, start(3, 1, None)]);
        assert_eq!(
            session.handle(Event::Saved),
            [Action::Cancel, start(4, 1, 1)],
            "a save also cancels the day's run"
        );
        assert_eq!(session.handle(finished(2, &[(1, 1, true)])), [], "a run ends only once");
    }

    #[test]
    fn a_regressed_task_becomes_current() {
        let mut session = session();
        session.tasks[0].done = true;
        session.current = 1;
        assert_eq!(session.handle(Event::Saved), [start(1, 1, 2)]);
        session.handle(finished(1, &[(1, 2, true)]));
        assert_eq!(
            session.handle(finished(2, &[(1, 1, false), (1, 2, true)])),
            [Action::Regressed(id(1, 1)), Action::Keys]
        );
        assert_eq!(session.handle(Event::Saved), [start(3, 1, 1)]);
    }

    #[test]
    fn handles_each_key() {
        let mut session = session();
        assert_eq!(session.handle(Event::Key(Key::Back)), [Action::NoFurther]);
        assert_eq!(session.handle(Event::Key(Key::Next)), [start(1, 1, 2)]);
        assert_eq!(session.handle(Event::Key(Key::Next)), [Action::Cancel, start(2, 2, 1)]);
        assert_eq!(
            session.handle(Event::Key(Key::Next)),
            [Action::NoFurther],
            "there is no next task, so the current run must continue"
        );
        assert_eq!(
            session.handle(finished(2, &[(2, 1, true)])),
            [Action::Tell, Action::Keys],
            "a task moved to with `n` stays current"
        );
        assert_eq!(session.handle(Event::Key(Key::Hint)), [Action::Hint(id(2, 1))]);
        assert_eq!(session.handle(Event::Key(Key::Chapter)), [Action::Chapter(id(2, 1))]);
        assert_eq!(session.handle(Event::Key(Key::List)), [Action::List]);
        assert_eq!(session.handle(Event::Key(Key::Back)), [start(3, 1, 2)]);
        assert_eq!(
            session.handle(Event::Key(Key::Hint)),
            [Action::Hint(id(1, 2))],
            "a hint does not cancel the run"
        );
        assert_eq!(session.handle(Event::Key(Key::All)), [Action::Cancel, start(4, 1, None)]);
        assert_eq!(
            session.handle(finished(4, &[(1, 1, true), (1, 2, false)])),
            [Action::Tell, Action::Keys]
        );
        assert_eq!(
            session.handle(Event::Key(Key::Again)),
            [start(5, 1, 2)],
            "the current task has not changed"
        );
        assert_eq!(session.handle(Event::Key(Key::Quit)), [Action::Cancel, Action::Quit]);
        assert_eq!(session.handle(Event::Key(Key::Quit)), [Action::Quit]);
    }

    #[test]
    fn returns_to_a_skipped_task_of_the_same_day() {
        let mut session = session();
        session.handle(Event::Key(Key::Next));
        session.handle(finished(1, &[(1, 2, false)]));
        session.handle(Event::Saved);
        session.handle(finished(2, &[(1, 2, true)]));
        let back = [Action::GoTo(id(1, 1)), Action::Keys];
        assert_eq!(
            session.handle(finished(3, &[(1, 1, false), (1, 2, true)])),
            back,
            "open tasks of the same day come first"
        );
    }
}
