//! The finished engine, from the command line.

use anyhow::{Context, Result, ensure};

use super::{Outcome, Verification, rust::count, seconds};

/// `cargo course start`, twice: the second time shows the wait that remains once everything is
/// built.
pub(super) fn start(v: &mut Verification) -> Result<Outcome> {
    let mut durations = Vec::new();
    let cold = !v.root.join("target/verify/build/release").exists();
    for _ in 0..2 {
        let finished = v.cargo_succeeds("course start")?;
        for expected in ["Once upon a time", "tokens/s", "cargo course test week1-day1 1"] {
            ensure!(
                finished.text.contains(expected),
                "`cargo course start` does not print {expected:?}"
            );
        }
        durations.push(seconds(finished.duration));
    }
    let first = if cold { "cold, the runner's build included" } else { "first" };
    Ok(Outcome::Passed(format!(
        "{first}: {} (promised 90 s), again, to the end of the story: {}",
        durations[0], durations[1]
    )))
}

/// Tests of the command line: what it must refuse in one line, and on stubs the task that is
/// missing, in one line too.
pub(super) fn command_line(v: &mut Verification) -> Result<Outcome> {
    let ours = v.cargo_succeeds("test --no-fail-fast --test cli --features cli,reference")?;
    let stubs = v.cargo_succeeds("test --no-fail-fast --test cli --features cli")?;
    Ok(Outcome::Passed(count(&(ours.text + &stubs.text))?))
}

/// `cargo course bench week1`: the embedded model, and a 360 M Llama with random weights.
pub(super) fn bench(v: &mut Verification) -> Result<Outcome> {
    let finished = v.cargo_succeeds("course bench week1")?;
    let line = finished
        .text
        .lines()
        .find(|line| line.starts_with("Promised: "))
        .context("`cargo course bench week1` measured nothing")?;
    Ok(Outcome::Passed(line.to_owned()))
}
