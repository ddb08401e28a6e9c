//! Detects when a learner saves a file, by checking all files ten times per second.
//!
//! There are about a hundred files, so checking them uses 0.1 % of a core. The system's change
//! notifications do not work on every file system, and a library for them would take long to build.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::mpsc::Sender,
    thread,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context, Result};

use super::event::Input;

/// Interval between checks of the files.
const PERIOD: Duration = Duration::from_millis(100);

/// Time without changes after which a burst of changes counts as one save. An editor may save in
/// several steps.
const QUIET: Duration = Duration::from_millis(50);

/// Maximum duration of a burst of changes. After it, a run starts even if changes continue.
const PATIENCE: Duration = Duration::from_secs(1);

/// Combines bursts of changes into saves.
#[derive(Debug, Default)]
pub(super) struct Debounce {
    /// The times of the first and the last change in the current burst.
    burst: Option<(Instant, Instant)>,
}

impl Debounce {
    /// Records a change at the time `now`.
    pub(super) fn push(&mut self, now: Instant) {
        let first = self.burst.map_or(now, |(first, _)| first);
        self.burst = Some((first, now));
    }

    /// Returns the time at which the current burst counts as a save.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.burst.map(|(first, last)| (last + QUIET).min(first + PATIENCE))
    }

    /// Returns whether the current burst counts as a save at the time `now`. If so, ends the burst.
    pub(super) fn take_due(&mut self, now: Instant) -> bool {
        let due = self.deadline().is_some_and(|at| at <= now);
        if due {
            self.burst = None;
        }
        due
    }
}

/// Every file in a folder, with its length and the time of its last change.
type Seen = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// Starts a thread that watches `folder` with its subfolders. The thread reports changes to
/// `inputs` until the receiver is gone.
///
/// # Errors
/// If the folder cannot be read.
pub(super) fn watch_files(folder: &Path, inputs: Sender<Input>) -> Result<()> {
    let mut seen = Seen::new();
    look(folder, &mut seen).with_context(|| format!("{} cannot be read", folder.display()))?;
    let folder = folder.to_owned();
    thread::spawn(move || {
        loop {
            thread::sleep(PERIOD);
            let mut now = Seen::new();
            // The folder may be missing for a moment while it is replaced.
            if look(&folder, &mut now).is_ok() && now != seen {
                seen = now;
                if inputs.send(Input::Changed).is_err() {
                    return;
                }
            }
        }
    });
    Ok(())
}

fn look(folder: &Path, seen: &mut Seen) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // Follows links. A file that is removed during the check is skipped.
        let Ok(about) = fs::metadata(&path) else { continue };
        if about.is_dir() {
            look(&path, seen)?;
        } else if !is_temporary(&path) {
            seen.insert(path, (about.len(), about.modified().ok()));
        }
    }
    Ok(())
}

fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let swap = [".swp", ".swx", ".tmp", ".bak", "~", "#"].iter().any(|end| name.ends_with(end));
    // Vim creates a file named 4913 to check whether it may write.
    swap || name.starts_with(['.', '#']) || name.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_burst_is_one_save() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let mut debounce = Debounce::default();
        assert!(!debounce.take_due(start), "nothing has changed");
        debounce.push(start);
        debounce.push(start + ms(40));
        assert!(!debounce.take_due(start + ms(80)), "not quiet yet");
        assert_eq!(debounce.deadline(), Some(start + ms(90)));
        assert!(debounce.take_due(start + ms(90)));
        assert!(!debounce.take_due(start + ms(999)), "one save, not two");
        (0..30).for_each(|n| debounce.push(start + ms(40 * n)));
        assert_eq!(debounce.deadline(), Some(start + ms(1000)), "the files never stop changing");
    }

    /// Calls `change` on a file in a watched folder. Returns whether a change is detected within
    /// `patience`.
    fn heard(patience: Duration, change: impl Fn(&Path)) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("week1/rope/rope.rs");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "one").unwrap();
        let (sender, inputs) = mpsc::channel();
        watch_files(folder.path(), sender).unwrap();
        fs::read(&file).unwrap();
        assert!(inputs.recv_timeout(Duration::from_millis(250)).is_err(), "reading is not a save");
        change(&file);
        inputs.recv_timeout(patience).is_ok()
    }

    #[test]
    fn detects_every_kind_of_save_but_no_temporary_file() {
        let (soon, never) = (Duration::from_secs(20), Duration::from_millis(500));
        assert!(heard(soon, |file| fs::write(file, "two").unwrap()));
        assert!(heard(soon, |file| {
            let beside = file.with_file_name(".rope.rs.tmp");
            fs::write(&beside, "two").unwrap();
            fs::rename(&beside, file).unwrap();
        }));
        assert!(heard(soon, |file| fs::write(file.with_file_name("mine.rs"), "new").unwrap()));
        assert!(heard(soon, |file| fs::remove_file(file).unwrap()));
        for name in [".rope.rs.swp", "4913", "rope.rs~", "#rope.rs#", ".rope.rs.41.tmp"] {
            let write = |file: &Path| fs::write(file.with_file_name(name), "x").unwrap();
            assert!(!heard(never, write), "{name}");
        }
    }

    #[test]
    fn missing_folder_is_an_error() {
        let (sender, _inputs) = mpsc::channel();
        let error = watch_files(Path::new("no-such-folder"), sender).unwrap_err().to_string();
        assert!(error.contains("no-such-folder"), "{error}");
    }
}
