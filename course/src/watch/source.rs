//! What the loop listens to: the learner's files, the keyboard or standard input, signals.

use std::{
    io::{self, BufRead},
    path::Path,
    sync::mpsc::Sender,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use crossterm::event::{self, KeyCode, KeyEventKind, KeyModifiers};
use notify::{Config, EventKind, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};

use super::{Input, session::Key};

/// How long the files must have been quiet: an editor saves in several steps.
const QUIET: Duration = Duration::from_millis(80);

/// After this time a run starts although the files are not quiet.
const PATIENCE: Duration = Duration::from_secs(1);

/// Turns bursts of changes into saves.
#[derive(Debug, Default)]
pub(crate) struct Debounce {
    /// The first and the last change of the burst.
    burst: Option<(Instant, Instant)>,
}

impl Debounce {
    /// Notes a change.
    pub(crate) fn push(&mut self, now: Instant) {
        let first = self.burst.map_or(now, |(first, _)| first);
        self.burst = Some((first, now));
    }

    /// When the burst counts as one save.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.burst.map(|(first, last)| (last + QUIET).min(first + PATIENCE))
    }

    /// Whether it is time; the burst is over then.
    pub(crate) fn take_due(&mut self, now: Instant) -> bool {
        let due = self.deadline().is_some_and(|at| at <= now);
        if due {
            self.burst = None;
        }
        due
    }
}

/// Watches a folder with all below it for as long as the result lives. `poll` asks the files
/// themselves twice a second, for file systems that tell nothing, such as a network's.
///
/// # Errors
/// If the folder cannot be watched.
pub(crate) fn watch_files(
    folder: &Path,
    poll: bool,
    inputs: Sender<Input>,
) -> Result<Box<dyn Watcher>> {
    let on_event = move |event: notify::Result<notify::Event>| {
        // Events that were lost may have been saves.
        if event.map_or(true, |event| event.need_rescan() || is_save(&event)) {
            let _ = inputs.send(Input::Changed);
        }
    };
    let mut watcher: Box<dyn Watcher> = if poll {
        let config = Config::default()
            .with_poll_interval(Duration::from_millis(500))
            .with_compare_contents(true);
        Box::new(PollWatcher::new(on_event, config)?)
    } else {
        Box::new(
            RecommendedWatcher::new(on_event, Config::default())
                .context("this system does not tell about saved files; try --poll")?,
        )
    };
    let watched = watcher.watch(folder, RecursiveMode::Recursive);
    watched.with_context(|| format!("{} cannot be watched; try --poll", folder.display()))?;
    Ok(watcher)
}

/// Whether an event may have changed the code: reading does not, and neither do an editor's
/// temporary files.
fn is_save(event: &notify::Event) -> bool {
    !matches!(event.kind, EventKind::Access(_))
        && event.paths.iter().any(|path| !is_temporary(path))
}

fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let swap = [".swp", ".swx", ".tmp", ".bak", "~", "#"].iter().any(|end| name.ends_with(end));
    // Vim tries whether it may write with a file named 4913.
    swap || name.starts_with(['.', '#']) || name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Keys as they are pressed, on a terminal in raw mode.
pub(crate) fn read_keys(inputs: Sender<Input>) {
    thread::spawn(move || {
        while let Ok(event) = event::read() {
            let event::Event::Key(key) = event else { continue };
            if key.kind == KeyEventKind::Release {
                continue;
            }
            let input = match key.code {
                KeyCode::Char('c' | 'd') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                    Some(Input::Interrupted)
                }
                KeyCode::Char(letter)
                    if key.modifiers.difference(KeyModifiers::SHIFT).is_empty() =>
                {
                    key_of(letter).map(Input::Key)
                }
                _ => None,
            };
            if input.is_some_and(|input| inputs.send(input).is_err()) {
                break;
            }
        }
    });
}

/// Keys as lines of standard input. Its end is not the end of watching: in a pipe or in CI there
/// may be no input at all.
pub(crate) fn read_lines(inputs: Sender<Input>) {
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let Some(letter) = line.trim().chars().next() else { continue };
            if inputs.send(Input::Key(key_of(letter).unwrap_or(Key::Help))).is_err() {
                break;
            }
        }
    });
}

/// Ctrl-C outside raw mode, and the signals that ask a program to end.
///
/// # Errors
/// If the system refuses.
pub(crate) fn listen_to_signals(inputs: Sender<Input>) -> Result<()> {
    ctrlc::set_handler(move || drop(inputs.send(Input::Interrupted)))
        .context("signals cannot be caught")
}

fn key_of(letter: char) -> Option<Key> {
    Some(match letter.to_ascii_lowercase() {
        'h' => Key::Hint,
        'l' => Key::List,
        'n' => Key::Next,
        'p' => Key::Back,
        'a' => Key::All,
        'r' => Key::Again,
        'c' => Key::Chapter,
        'q' => Key::Quit,
        '?' => Key::Help,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, sync::mpsc};

    use notify::event::{AccessKind, CreateKind, DataChange, ModifyKind, RenameMode};

    use super::*;

    #[test]
    fn a_burst_is_one_save() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let mut debounce = Debounce::default();
        assert!(!debounce.take_due(start), "nothing has changed");
        debounce.push(start);
        debounce.push(start + ms(50));
        assert!(!debounce.take_due(start + ms(100)), "not quiet yet");
        assert_eq!(debounce.deadline(), Some(start + ms(130)));
        assert!(debounce.take_due(start + ms(130)));
        assert!(!debounce.take_due(start + ms(999)), "one save, not two");
        (0..30).for_each(|n| debounce.push(start + ms(50 * n)));
        assert_eq!(debounce.deadline(), Some(start + ms(1000)), "files that are never quiet");
    }

    #[test]
    fn only_what_may_change_the_code_is_a_save() {
        let event = |kind, path: &str| is_save(&notify::Event::new(kind).add_path(path.into()));
        let modified = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        assert!(event(modified, "src/week1/rope.rs"));
        assert!(
            event(EventKind::Modify(ModifyKind::Name(RenameMode::To)), "src/week1/rope.rs"),
            "written beside, then renamed"
        );
        assert!(event(EventKind::Create(CreateKind::File), "src/week1/mine.rs"));
        assert!(
            !event(EventKind::Access(AccessKind::Any), "src/week1/rope.rs"),
            "the compiler reads"
        );
        for path in [
            "src/week1/.rope.rs.swp",
            "src/week1/4913",
            "src/week1/rope.rs~",
            "src/week1/#rope.rs#",
            "src/week1/.rope.rs.41.tmp",
        ] {
            assert!(!event(modified, path), "{path}");
        }
        let rename = notify::Event::new(EventKind::Modify(ModifyKind::Name(RenameMode::Both)));
        assert!(is_save(&rename.add_path("src/.rope.tmp".into()).add_path("src/rope.rs".into())));
    }

    /// Which of the two ways to save is heard, on a real file system.
    fn heard(poll: bool, save: impl Fn(&Path)) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("week1/rope.rs");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "one").unwrap();
        let (sender, inputs) = mpsc::channel();
        let _watcher = watch_files(folder.path(), poll, sender).unwrap();
        fs::read(&file).unwrap();
        assert!(inputs.recv_timeout(Duration::from_millis(200)).is_err(), "reading is no save");
        save(&file);
        inputs.recv_timeout(Duration::from_secs(10)).is_ok()
    }

    #[test]
    fn both_ways_of_saving_are_heard() {
        assert!(heard(false, |file| fs::write(file, "two").unwrap()));
        assert!(heard(false, |file| {
            let beside = file.with_file_name(".rope.rs.tmp");
            fs::write(&beside, "two").unwrap();
            fs::rename(&beside, file).unwrap();
        }));
        assert!(heard(true, |file| fs::write(file, "two").unwrap()));
    }
}
