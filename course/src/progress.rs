//! A build that shows its progress: one line that is rewritten on a terminal, plain lines
//! elsewhere.

use std::{
    collections::BTreeSet,
    io::{IsTerminal, Write, stderr},
    path::Path,
    process::Command,
    sync::mpsc::RecvTimeoutError,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

use crate::{
    estimate,
    process::{self, cargo, shown},
};

/// A build of one of the repository's programs.
#[derive(Debug, Clone, Copy)]
pub struct Build<'a> {
    /// The program's name in messages.
    pub what: &'a str,
    /// The arguments of `cargo build`.
    pub arguments: &'a [&'a str],
    /// Expected duration, if known.
    pub estimate: Option<Duration>,
}

/// Runs `cargo build ARGUMENTS` in `root` and shows its progress under the name `what`. Returns the
/// duration of the build.
///
/// # Errors
/// If the build fails. Cargo's own output is printed first.
pub fn build(root: &Path, what: &str, arguments: &[&str]) -> Result<Duration> {
    Build::of(what, arguments).run(root)
}

impl<'a> Build<'a> {
    /// Creates a build of unknown duration.
    pub(crate) fn of(what: &'a str, arguments: &'a [&'a str]) -> Self {
        Self { what, arguments, estimate: None }
    }

    /// Runs the build as [`build`] does.
    ///
    /// # Errors
    /// If the build fails. Cargo's own output is printed first.
    pub fn run(self, root: &Path) -> Result<Duration> {
        let start = Instant::now();
        let mut command: Command = cargo(root);
        command.arg("build").args(self.arguments);
        let (mut child, lines) = process::start(&mut command)?;
        let mut total = None;
        let (mut text, mut packages, mut now) = (Vec::new(), 0, String::from("starting"));
        let mut line = Line::default();
        loop {
            match lines.recv_timeout(Duration::from_millis(250)) {
                Ok(process::Line { text: output, .. }) => {
                    let mut words = output.split_whitespace();
                    match (words.next().unwrap_or_default(), words.next().unwrap_or_default()) {
                        ("Compiling", name) => {
                            packages += 1;
                            let total =
                                *total.get_or_insert_with(|| count_packages(root, self.arguments));
                            let of = if total >= packages {
                                format!(" of at most {total}")
                            } else {
                                String::new()
                            };
                            now = format!("package {packages}{of} ({name})");
                        }
                        // Before the first package, cargo updates the index, downloads sources, or
                        // waits for another cargo.
                        ("Updating" | "Downloading" | "Downloaded" | "Blocking", _) => {
                            output.trim().clone_into(&mut now);
                        }
                        _ => {}
                    }
                    text.push(output);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // If there is nothing to build, the build ends before any progress is shown.
            if start.elapsed() > Duration::from_millis(500) {
                let elapsed = start.elapsed();
                let of_about = match self.estimate {
                    Some(time) if elapsed > time.mul_f64(1.1) => ", longer than estimated".into(),
                    Some(time) => format!(" of {}", estimate::words(time)),
                    None => String::new(),
                };
                let seconds = elapsed.as_secs();
                line.show(&format!("building {}: {now}, {seconds} s{of_about}", self.what));
            }
        }
        line.clear();
        if child.wait()?.success() {
            return Ok(start.elapsed());
        }
        eprintln!("{}", text.join("\n"));
        bail!("`{}` failed", shown(&command))
    }
}

/// Returns the number of packages that a build from scratch compiles, or 0 if unknown. Some of
/// these packages may already be built.
fn count_packages(root: &Path, arguments: &[&str]) -> usize {
    let chosen = |pair: &&[&str]| ["--features", "--package"].contains(&pair[0]);
    let features: Vec<&str> = arguments.windows(2).filter(chosen).flatten().copied().collect();
    let options = format!("--edges normal,build --format {{p}} {}", features.join(" "));
    let tree = process::tree(root, &options).unwrap_or_default();
    let packages = tree.lines().map(|line| line.trim_end_matches(" (*)"));
    packages.filter(|line| !line.is_empty()).collect::<BTreeSet<_>>().len()
}

/// A status line on standard error.
pub struct Line {
    on_terminal: bool,
    shown: bool,
    last: Option<Instant>,
}

impl Default for Line {
    /// Creates a line that shows nothing yet.
    fn default() -> Self {
        Self { on_terminal: stderr().is_terminal(), shown: false, last: None }
    }
}

impl Line {
    /// Shows a text. On a terminal, the text replaces the previous one. Elsewhere, it is printed as
    /// a new line, at most every ten seconds.
    pub fn show(&mut self, text: &str) {
        if self.on_terminal {
            eprint!("\r{:<78}", text.chars().take(78).collect::<String>());
            let _ = stderr().flush();
            self.shown = true;
        } else if self.last.is_none_or(|last| last.elapsed() >= Duration::from_secs(10)) {
            eprintln!("{text}");
            self.last = Some(Instant::now());
        }
    }

    /// Removes the line from the terminal.
    pub fn clear(&mut self) {
        if self.shown {
            eprint!("\r{:<78}\r", "");
        }
    }
}
