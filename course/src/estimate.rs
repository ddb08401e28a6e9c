//! Estimates how long the first build takes, from a short measurement of this machine.

use std::{
    fmt::Write as _,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    thread::available_parallelism,
    time::{Duration, Instant},
};

use crate::process::forget_cargo;

/// Number of functions in the measured program, enough for half a second of compilation.
const FUNCTIONS: usize = 40;

/// The cost of a build, in multiples of the time that the measured program takes to compile.
/// `waiting` is the time that the build would take on infinitely many cores. It isn't zero, because
/// some libraries wait for others. `shared` is the work that is divided among the cores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    waiting: f64,
    shared: f64,
}

/// The cost of building the program that writes a story, measured on two and on four cores.
pub(crate) const STORY: Work = Work { waiting: 12.0, shared: 46.0 };
/// The cost of building the command line with the engine.
pub(crate) const ENGINE: Work = Work { waiting: 18.0, shared: 70.0 };

/// Returns the estimated time of a first build, or `None` if the compiler cannot be run.
pub(crate) fn of(root: &Path, work: Work) -> Option<Duration> {
    let cores = available_parallelism().map_or(1.0, |n| n.get() as f64);
    Some(measured(root)?.mul_f64(work.waiting + work.shared / cores))
}

/// Formats a time: `about 40 s`.
pub fn words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..95 => format!("about {} s", (seconds + 5) / 10 * 10),
        seconds => format!("about {} min", (seconds + 30) / 60),
    }
}

/// Compiles a small program that resembles the course's code, and returns the compiler's time.
pub fn measured(root: &Path) -> Option<Duration> {
    let mut program = String::new();
    for n in 0..FUNCTIONS {
        let _ = writeln!(
            program,
            "pub fn f{n}(x: &[u32]) -> Vec<String> {{ x.iter().map(|v| (v ^ {n}).to_string())\
             .filter(|s| s.len() > 2).collect() }}"
        );
    }
    let folder = root.join("target");
    std::fs::create_dir_all(&folder).ok()?;
    let out = folder.join("estimate.o");
    let mut rustc = Command::new("rustc");
    forget_cargo(&mut rustc);
    rustc.args(["--crate-name", "estimate", "--crate-type", "lib", "--emit", "obj"]);
    rustc.args(["-C", "opt-level=3", "-o"]).arg(&out).arg("-").current_dir(root);
    rustc.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = rustc.spawn().ok()?;
    child.stdin.take()?.write_all(program.as_bytes()).ok()?;
    let succeeded = child.wait().ok()?.success();
    let time = start.elapsed();
    let _ = std::fs::remove_file(&out);
    succeeded.then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurement_leaves_no_files() {
        let root = tempfile::tempdir().unwrap();
        let time = of(root.path(), STORY).unwrap();
        assert!(time > Duration::from_secs(1), "{time:?}");
        assert_eq!(std::fs::read_dir(root.path().join("target")).unwrap().count(), 0);
    }

    #[test]
    fn rounds_estimates() {
        let words = |seconds| words(Duration::from_secs(seconds));
        assert_eq!(
            [4, 37, 94, 95, 170].map(words),
            ["about 0 s", "about 40 s", "about 90 s", "about 2 min", "about 3 min"]
        );
    }
}
