//! Builds the engine in the background at the lowest priority, so that a learner's first `cargo
//! llm` starts at once. The build uses `target/release`, so that no test waits for it.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
};

use super::runner::{in_a_group, kill_group};
use crate::{curriculum::Curriculum, engine::YOURS, process};

/// The day before the first chapter that calls `cargo llm`.
const FROM: &str = "week1-day4";

/// The background build of the engine. Dropping the value stops the build.
#[derive(Debug, Default)]
pub(super) struct Prebuild(Option<Child>);

impl Prebuild {
    /// Returns whether the build should begin now: `day` is [`FROM`] or later, no build has been
    /// started, and there is no engine at `program`.
    pub(super) fn is_due(&self, program: &Path, curriculum: &Curriculum, day: &str) -> bool {
        let at = |name: &str| curriculum.days().position(|day| day.feature == name);
        self.0.is_none() && at(day) >= at(FROM) && !program.exists()
    }

    /// Starts the build. Returns whether cargo could be started. If the build fails, `cargo llm`
    /// reports the errors later.
    pub(super) fn begin(&mut self, root: &Path) -> bool {
        let mut cargo = process::cargo(root);
        cargo.args(["build", "--quiet"]).args(YOURS);
        self.start(&cargo)
    }

    fn start(&mut self, command: &Command) -> bool {
        let mut command = idle(command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        in_a_group(&mut command);
        self.0 = command.spawn().ok();
        self.0.is_some()
    }
}

impl Drop for Prebuild {
    fn drop(&mut self) {
        let Some(mut child) = self.0.take() else { return };
        // Once a process has ended, its id may belong to another process.
        if matches!(child.try_wait(), Ok(None)) {
            kill_group(&mut child);
            let _ = child.wait();
        }
    }
}

/// Returns a command that does the same as `command` at the lowest priority.
#[cfg(unix)]
fn idle(command: &Command) -> Command {
    let mut nice = Command::new("nice");
    nice.args(["-n", "19"]).arg(command.get_program()).args(command.get_args());
    like(&mut nice, command);
    nice
}

#[cfg(windows)]
fn idle(command: &Command) -> Command {
    const IDLE_PRIORITY_CLASS: u32 = 0x40;
    let mut same = Command::new(command.get_program());
    same.args(command.get_args());
    std::os::windows::process::CommandExt::creation_flags(&mut same, IDLE_PRIORITY_CLASS);
    like(&mut same, command);
    same
}

/// Copies the working directory and the environment of `other` to `command`.
fn like(command: &mut Command, other: &Command) {
    if let Some(folder) = other.get_current_dir() {
        command.current_dir(folder);
    }
    for (name, value) in other.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{
        fs, thread,
        time::{Duration, Instant},
    };

    use super::*;

    #[test]
    fn is_due_from_the_day_before_the_first_use() {
        let curriculum = Curriculum::parse(include_str!("../../curriculum.toml")).unwrap();
        let (root, mut ahead) = (tempfile::tempdir().unwrap(), Prebuild::default());
        let program = root.path().join("tiny-llm");
        let due = |ahead: &Prebuild, day| ahead.is_due(&program, &curriculum, day);
        assert!(!due(&ahead, "week1-day3"));
        assert!(due(&ahead, "week1-day4") && due(&ahead, "week3-day1"));
        assert!(ahead.start(&Command::new("true")));
        assert!(!due(&ahead, "week1-day4"), "it is built once");
        fs::write(&program, "").unwrap();
        assert!(!due(&Prebuild::default(), "week1-day4"), "the engine is already built");
    }

    #[test]
    fn runs_at_the_lowest_priority_and_ends_on_drop() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "nice > n && mv n nice; (sleep 3; touch late) & wait"]);
        command.current_dir(folder.path());
        let mut ahead = Prebuild::default();
        assert!(ahead.start(&command));
        let (nice, start) = (folder.path().join("nice"), Instant::now());
        while !nice.exists() && start.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(fs::read_to_string(nice).unwrap().trim(), "19");
        drop(ahead);
        thread::sleep(Duration::from_millis(3500));
        assert!(!folder.path().join("late").exists(), "a compiler is still running");
    }
}
