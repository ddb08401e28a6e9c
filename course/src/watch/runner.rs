//! Runs tests so that they can be stopped at any moment, together with all their child processes.

use std::{
    process::{Child, Command},
    sync::{Arc, Mutex, PoisonError, mpsc::Sender},
    thread,
    time::Instant,
};

use anyhow::{Context, Result};

use super::event::Input;
use crate::{
    explain,
    process::{self, Finished},
};

/// Runs commands, one at a time.
#[derive(Debug)]
pub(crate) struct Runner {
    inputs: Sender<Input>,
    /// The process of the current run. The inner value is `None` after the process has ended,
    /// because its id may then belong to another process.
    running: Option<Arc<Mutex<Option<Child>>>>,
}

impl Runner {
    /// Creates a runner that sends the progress and the results of runs to `inputs`.
    pub(crate) fn new(inputs: Sender<Input>) -> Self {
        Self { inputs, running: None }
    }

    /// Starts a command. Its result arrives as [`Input::Finished`] with the number `run`. If the
    /// run is cancelled, the result may never arrive.
    ///
    /// # Errors
    /// If the command cannot be started.
    pub(crate) fn start(&mut self, run: u64, mut command: Command) -> Result<()> {
        self.cancel();
        in_a_group(&mut command);
        let start = Instant::now();
        let (child, lines) = process::start(&mut command)?;
        let child = Arc::new(Mutex::new(Some(child)));
        self.running = Some(Arc::clone(&child));
        let inputs = self.inputs.clone();
        thread::spawn(move || {
            let (text, output) = process::texts(lines, |line| {
                if let Some(step) = explain::build_step(&line.text).filter(|_| !line.is_output) {
                    let _ = inputs.send(Input::Step { run, step });
                }
            });
            // The process has closed its output. While the lock is held, no other thread can stop
            // it, and afterwards there is nothing to stop.
            let ended = child
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take()
                .map(|mut child| child.wait());
            let finished = match ended {
                Some(Ok(status)) => {
                    Ok(Finished { status, text, output, duration: start.elapsed() })
                }
                Some(Err(error)) => {
                    Err(error).context("the exit status of the tests cannot be read")
                }
                None => return,
            };
            let _ = inputs.send(Input::Finished { run, finished });
        });
        Ok(())
    }

    /// Stops the current run: cargo, the compiler and the test program.
    pub(crate) fn cancel(&mut self) {
        let Some(running) = self.running.take() else { return };
        if let Some(mut child) = running.lock().unwrap_or_else(PoisonError::into_inner).take() {
            kill_group(&mut child);
            // Wait until the process has released its lock on the build folder.
            let _ = child.wait();
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.cancel();
    }
}

#[cfg(unix)]
pub(super) fn in_a_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
pub(super) fn in_a_group(_command: &mut Command) {}

#[cfg(unix)]
pub(super) fn kill_group(child: &mut Child) {
    // The shell's own `kill` always exists, but a program of that name might not.
    let mut command = Command::new("sh");
    command.args(["-c", &format!("kill -s KILL -- -{}", child.id())]);
    let stopped = crate::process::run_quietly(&mut command);
    if !stopped.is_ok_and(|stopped| stopped.status.success()) {
        let _ = child.kill();
    }
}

#[cfg(not(unix))]
pub(super) fn kill_group(child: &mut Child) {
    let mut command = Command::new("taskkill");
    command.args(["/T", "/F", "/PID", &child.id().to_string()]);
    let stopped = crate::process::run_quietly(&mut command);
    if !stopped.is_ok_and(|stopped| stopped.status.success()) {
        let _ = child.kill();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use super::*;

    fn shell(line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        command
    }

    #[test]
    fn sends_the_output_and_the_exit_status() {
        let (sender, inputs) = mpsc::channel();
        let mut runner = Runner::new(sender);
        runner.start(7, shell("echo out; echo '   Compiling ndarray v1' >&2; exit 3")).unwrap();
        let (mut steps, mut end) = (Vec::new(), None);
        while end.is_none() {
            match inputs.recv_timeout(Duration::from_secs(10)).unwrap() {
                Input::Step { run: 7, step } => steps.push(step),
                Input::Finished { run: 7, finished } => end = Some(finished.unwrap()),
                other => panic!("{other:?}"),
            }
        }
        let end = end.unwrap();
        assert_eq!(
            (steps, end.output.as_str(), end.status.code()),
            (vec!["building ndarray".to_owned()], "out\n", Some(3))
        );
    }

    #[test]
    fn cancel_kills_child_processes() {
        let folder = tempfile::tempdir().unwrap();
        let (born, late) = (folder.path().join("born"), folder.path().join("late"));
        let (sender, inputs) = mpsc::channel();
        let mut runner = Runner::new(sender);
        let line = format!("(touch {}; sleep 3; touch {}) & wait", born.display(), late.display());
        runner.start(1, shell(&line)).unwrap();
        let start = Instant::now();
        while !born.exists() && start.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(5));
        }
        assert!(born.exists());
        runner.cancel();
        thread::sleep(Duration::from_millis(3500));
        assert!(!late.exists(), "the grandchild is still running");
        assert!(inputs.try_recv().is_err(), "a cancelled run sends no result");
    }
}
