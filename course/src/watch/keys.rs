//! Reads single keys from a terminal, or lines from standard input if there is no terminal.

use std::{
    io::{self, BufRead},
    sync::mpsc::Sender,
    thread,
};

use super::{event::Input, session::Key};

/// A terminal in single-key mode. Dropping this ends the mode.
pub(super) struct SingleKeys(terminal::Mode);

impl SingleKeys {
    /// Switches the terminal to single keys. Returns `None` if there is no terminal.
    pub(super) fn of_terminal() -> Option<Self> {
        let mode = terminal::Mode::single_keys()?;
        let (before, at_panic) = (std::panic::take_hook(), mode.clone());
        std::panic::set_hook(Box::new(move |info| {
            at_panic.restore();
            before(info);
        }));
        Some(Self(mode))
    }
}

impl Drop for SingleKeys {
    fn drop(&mut self) {
        self.0.restore();
    }
}

/// Starts a thread that sends each pressed key to `inputs`.
pub(super) fn read_keys(inputs: Sender<Input>) {
    thread::spawn(move || {
        while let Some(pressed) = terminal::next() {
            for letter in pressed {
                let input = match letter {
                    // Ctrl-C and Ctrl-D.
                    '\u{3}' | '\u{4}' => Some(Input::Interrupted),
                    letter => key_of(letter).map(Input::Key),
                };
                if input.is_some_and(|input| inputs.send(input).is_err()) {
                    return;
                }
            }
        }
    });
}

/// Starts a thread that sends the first letter of each line of standard input to `inputs`, as a
/// key. Watching continues after the last line, because there may be no input at all in a pipe or
/// in CI.
pub(super) fn read_lines(inputs: Sender<Input>) {
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let Some(letter) = line.trim().chars().next() else { continue };
            if inputs.send(Input::Key(key_of(letter).unwrap_or(Key::Help))).is_err() {
                break;
            }
        }
    });
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

/// Sets the terminal's mode with `stty`, because a library for that would take a tenth of the
/// runner's build time.
#[cfg(unix)]
mod terminal {
    use std::{
        io::{self, Read},
        process::{Command, Stdio},
    };

    /// The terminal's settings before single-key mode.
    #[derive(Clone)]
    pub(super) struct Mode(String);

    impl Mode {
        pub(super) fn single_keys() -> Option<Self> {
            let before = stty(&["-g"])?;
            // Ctrl-C remains a signal, and a line feed still returns to the first column.
            stty(&["-icanon", "-echo", "min", "1", "time", "0"])?;
            Some(Self(before.trim().to_owned()))
        }

        pub(super) fn restore(&self) {
            stty(&[&self.0]);
        }
    }

    fn stty(arguments: &[&str]) -> Option<String> {
        let mut command = Command::new("stty");
        let output = command.args(arguments).stdin(Stdio::inherit()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Waits for at least one key. Returns the keys that were typed, or `None` at the end of the
    /// input.
    pub(super) fn next() -> Option<Vec<char>> {
        let mut bytes = [0; 64];
        let length = io::stdin().lock().read(&mut bytes).ok().filter(|length| *length > 0)?;
        // Arrow keys and the like arrive together, as a sequence that begins with an escape.
        let typed = if bytes[0] == 0x1b { &[][..] } else { &bytes[..length] };
        Some(String::from_utf8_lossy(typed).chars().collect())
    }
}

#[cfg(windows)]
mod terminal {
    use crossterm::{
        event::{self, Event, KeyCode, KeyEventKind, KeyModifiers},
        terminal::{disable_raw_mode, enable_raw_mode},
    };

    #[derive(Clone)]
    pub(super) struct Mode;

    impl Mode {
        pub(super) fn single_keys() -> Option<Self> {
            enable_raw_mode().ok().map(|()| Self)
        }

        pub(super) fn restore(&self) {
            let _ = disable_raw_mode();
        }
    }

    pub(super) fn next() -> Option<Vec<char>> {
        let Event::Key(key) = event::read().ok()? else { return Some(Vec::new()) };
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        Some(match key.code {
            _ if key.kind == KeyEventKind::Release => Vec::new(),
            KeyCode::Char('c' | 'd') if control => vec!['\u{3}'],
            KeyCode::Char(letter) if !control => vec![letter],
            _ => Vec::new(),
        })
    }
}
