//! The event loop: receives inputs and executes actions. It sleeps until an input or a deadline.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::Instant,
};

use anyhow::Result;

use super::{
    event::Input,
    saves::Debounce,
    session::{Action, Event, Session},
};
use crate::process::Finished;

/// Why the event loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Quit,
    Interrupted,
}

/// Executes the session's actions and interprets finished runs.
pub(super) trait Stage {
    /// Executes an action.
    fn act(&mut self, action: Action) -> Result<()>;
    /// Shows `step`, the progress of the build in run number `run`.
    fn step(&mut self, run: u64, step: &str);
    /// Interprets the result of run number `run`. Returns `None` if that run is no longer current.
    fn finished(&mut self, run: u64, finished: Result<Finished>) -> Result<Option<Event>>;
}

/// Receives inputs and executes the session's actions until `q` or Ctrl-C.
///
/// # Errors
/// If an action fails.
pub(super) fn run(
    inputs: &Receiver<Input>,
    mut session: Session,
    stage: &mut impl Stage,
) -> Result<End> {
    let mut debounce = Debounce::default();
    let mut actions = session.begin();
    loop {
        for action in actions.drain(..) {
            if action == Action::Quit {
                return Ok(End::Quit);
            }
            stage.act(action)?;
        }
        let input = match debounce.deadline() {
            Some(at) => inputs.recv_timeout(at.saturating_duration_since(Instant::now())),
            None => inputs.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let event = match input {
            Ok(Input::Changed) => {
                debounce.push(Instant::now());
                None
            }
            Ok(Input::Key(key)) => Some(Event::Key(key)),
            Ok(Input::Step { run, step }) => {
                stage.step(run, &step);
                None
            }
            Ok(Input::Finished { run, finished }) => stage.finished(run, finished)?,
            Ok(Input::Interrupted) | Err(RecvTimeoutError::Disconnected) => {
                stage.act(Action::Cancel)?;
                return Ok(End::Interrupted);
            }
            Err(RecvTimeoutError::Timeout) => None,
        };
        if let Some(event) = event {
            actions.extend(session.handle(event));
        }
        if debounce.take_due(Instant::now()) {
            actions.extend(session.handle(Event::Saved));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::mpsc::{Sender, channel},
        thread,
        time::Duration,
    };

    use super::*;
    use crate::{
        curriculum::TaskId,
        watch::session::{Key, Watched},
    };

    fn id(task: usize) -> TaskId {
        TaskId { feature: "week1-day1".into(), task }
    }

    /// A stage for tests. Records the actions. When a run starts, calls the next function of
    /// `answers`.
    struct Script {
        inputs: Sender<Input>,
        seen: Vec<Action>,
        /// The functions that send inputs, one for each start of a run. Each gets the sender and
        /// the run's number.
        answers: Vec<fn(&Sender<Input>, u64)>,
    }

    impl Stage for Script {
        fn act(&mut self, action: Action) -> Result<()> {
            if let Action::Start { run, .. } = action
                && !self.answers.is_empty()
            {
                self.answers.remove(0)(&self.inputs, run);
            }
            self.seen.push(action);
            Ok(())
        }

        fn step(&mut self, _run: u64, _step: &str) {}

        /// Treats an error as a failed task.
        fn finished(&mut self, run: u64, finished: Result<Finished>) -> Result<Option<Event>> {
            Ok(Some(Event::Finished { run, passed: vec![(id(1), finished.is_ok())] }))
        }
    }

    fn red(inputs: &Sender<Input>, run: u64) {
        inputs.send(Input::Finished { run, finished: Err(anyhow::anyhow!("red")) }).unwrap();
    }

    fn key(inputs: &Sender<Input>, key: Key) {
        inputs.send(Input::Key(key)).unwrap();
    }

    fn played(answers: Vec<fn(&Sender<Input>, u64)>) -> (End, Vec<Action>) {
        let (sender, inputs) = channel();
        let session = Session::new(
            vec![Watched { id: id(1), done: false }, Watched { id: id(2), done: false }],
            &id(1),
        );
        let mut script = Script { inputs: sender, seen: Vec::new(), answers };
        let end = run(&inputs, session, &mut script).unwrap();
        (end, script.seen)
    }

    fn start(run: u64, task: usize) -> Action {
        Action::Start { run, day: "week1-day1".into(), task: Some(task) }
    }

    #[test]
    fn a_burst_of_changes_during_a_run_cancels_it_once() {
        let (end, seen) = played(vec![
            |inputs, _| (0..5).for_each(|_| inputs.send(Input::Changed).unwrap()),
            |inputs, run| {
                red(inputs, run - 1);
                red(inputs, run);
                key(inputs, Key::Hint);
                key(inputs, Key::Quit);
            },
        ]);
        assert_eq!(end, End::Quit);
        let expected = [
            start(1, 1),
            Action::Cancel,
            start(2, 1),
            Action::Tell,
            Action::Keys,
            Action::Hint(id(1)),
        ];
        assert_eq!(seen, expected, "the end of the first run is ignored");
    }

    #[test]
    fn quitting_cancels_the_run() {
        let (end, seen) = played(vec![|inputs, _| key(inputs, Key::Quit)]);
        assert_eq!((end, seen), (End::Quit, vec![start(1, 1), Action::Cancel]));
    }

    #[test]
    fn runs_once_per_save_and_handles_keys_at_once() {
        let (end, seen) = played(vec![
            |inputs, run| {
                red(inputs, run);
                inputs.send(Input::Changed).unwrap();
                key(inputs, Key::List);
            },
            |inputs, run| {
                red(inputs, run);
                let inputs = inputs.clone();
                thread::spawn(move || {
                    thread::sleep(Duration::from_millis(20));
                    inputs.send(Input::Changed).unwrap();
                });
            },
            |inputs, _| inputs.send(Input::Interrupted).unwrap(),
        ]);
        assert_eq!(end, End::Interrupted);
        let red = [Action::Tell, Action::Keys];
        let expected = [
            &[start(1, 1)][..],
            &red,
            &[Action::List, start(2, 1)],
            &red,
            &[start(3, 1), Action::Cancel],
        ]
        .concat();
        assert_eq!(seen, expected);
    }
}
