//! Runs other programs, mostly cargo.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

/// The result of a program that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Exit status, which shows whether the program succeeded.
    pub status: ExitStatus,
    /// Standard output and error, line by line in order of arrival.
    pub text: String,
    /// Only standard output. Results are parsed from it, because in `text` a line of cargo's
    /// standard error may appear anywhere among the tests' lines.
    pub output: String,
    /// Time from start to end.
    pub duration: Duration,
}

impl Finished {
    /// Returns the last `lines` lines of the program's output, for a message.
    pub fn tail(&self, lines: usize) -> String {
        let all: Vec<&str> = self.text.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }
}

/// Returns a command for `cargo` in the folder `root`. If cargo started this program, returns a
/// command for the same cargo.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).env("CARGO_TERM_COLOR", "never");
    forget_cargo(&mut command);
    command
}

/// Returns cargo's build folder.
pub fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root.join("target"), |named| root.join(named))
}

/// Removes from a command's environment the variables that `cargo run` set for *this* package.
pub fn forget_cargo(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        }) {
            command.env_remove(name);
        }
    }
}

/// Formats the command as typed in a shell.
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args()).map(OsStr::to_string_lossy);
    words.collect::<Vec<_>>().join(" ")
}

/// Runs a command to its end. Calls `each` with every line of standard output and error as it
/// arrives. Standard input is empty.
///
/// # Errors
/// If the command cannot be started.
pub fn run(command: &mut Command, mut each: impl FnMut(&str)) -> Result<Finished> {
    let begun = Instant::now();
    let (mut child, lines) = start(command)?;
    let (text, output) = texts(lines, |line| each(&line.text));
    let status = child.wait().context("the exit status of a program cannot be read")?;
    Ok(Finished { status, text, output, duration: begun.elapsed() })
}

/// Receives all lines of a program. Returns them as [`Finished::text`] and [`Finished::output`].
pub(crate) fn texts(lines: Receiver<Line>, mut each: impl FnMut(&Line)) -> (String, String) {
    let (mut text, mut output) = (String::new(), String::new());
    for line in lines {
        each(&line);
        text += &format!("{}\n", line.text);
        if line.is_output {
            output += &format!("{}\n", line.text);
        }
    }
    (text, output)
}

/// Returns the output of `cargo tree` with these options, or `None` if it fails. It fails if a
/// library is not downloaded.
pub(crate) fn tree(root: &Path, options: &str) -> Option<String> {
    let mut tree = cargo(root);
    tree.args(["tree", "--offline", "--prefix", "none"]).args(options.split_whitespace());
    run_quietly(&mut tree).ok().filter(|tree| tree.status.success()).map(|tree| tree.text)
}

/// Like [`run`], but doesn't report the lines as they arrive.
pub fn run_quietly(command: &mut Command) -> Result<Finished> {
    run(command, |_| {})
}

/// Like [`run`], but prints the command and every line.
pub fn run_aloud(command: &mut Command) -> Result<Finished> {
    println!("$ {}", shown(command));
    run(command, |line| println!("{line}"))
}

/// A line that a program printed.
#[derive(Debug)]
pub struct Line {
    /// The text without its line end.
    pub text: String,
    /// Whether the line was printed on standard output, not on standard error.
    pub is_output: bool,
}

/// Starts a command. Returns the process and a channel that receives the lines of standard output
/// and error. The channel closes when both streams are closed.
pub fn start(command: &mut Command) -> Result<(Child, Receiver<Line>)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        command.spawn().with_context(|| format!("`{}` cannot be started", shown(command)))?;
    let (sender, lines) = channel();
    let pipes: [(Option<Box<dyn Read + Send>>, bool); 2] = [
        (child.stdout.take().map(|pipe| Box::new(pipe) as _), true),
        (child.stderr.take().map(|pipe| Box::new(pipe) as _), false),
    ];
    for (pipe, is_output) in pipes {
        let Some(pipe) = pipe else { continue };
        let sender = sender.clone();
        thread::spawn(move || {
            let mut pipe = BufReader::new(pipe);
            let mut line = Vec::new();
            while pipe.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                let text = String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned();
                if sender.send(Line { text, is_output }).is_err() {
                    break;
                }
                line.clear();
            }
        });
    }
    Ok((child, lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separates_output_from_errors() {
        let finished = run_quietly(cargo(Path::new(".")).arg("--version")).unwrap();
        assert!(
            finished.output.starts_with("cargo 1.") && finished.output == finished.text,
            "{finished:?}"
        );
        let finished = run_quietly(cargo(Path::new(".")).arg("--no-such-option")).unwrap();
        assert!(finished.output.is_empty() && finished.text.starts_with("error"), "{finished:?}");
    }
}
