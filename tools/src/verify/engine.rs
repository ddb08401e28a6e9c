//! Checks the finished engine from the command line.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::{
    context::{Outcome, Verification},
    cpu,
    promise::{self, Promise},
    rust::count,
};

/// Runs `cargo course start` twice. The second run shows how long it takes once everything is
/// built.
pub(super) fn start(v: &Verification) -> Result<Outcome> {
    let cold = !v.root.join("target/verify/build").exists();
    // If only some steps run, other steps may have left a learner's state behind.
    let _ = fs::remove_dir_all(v.tree.join(".course"));
    let (mut durations, before) = (Vec::new(), cpu::spent());
    let mut processor = None;
    for _ in 0..2 {
        let finished = v.cargo_succeeds("course start")?;
        for expected in ["Once upon a time", "tokens/s", "cargo course test week1-day1 1"] {
            ensure!(
                finished.text.contains(expected),
                "`cargo course start` does not print {expected:?}"
            );
        }
        durations.push(finished.duration.as_secs_f64());
        processor = processor.or_else(|| cpu::since(before));
    }
    let again = format!("second start: {:.1} s", durations[1]);
    if !cold {
        let note = format!("first start, with an existing build: {:.1} s; {again}", durations[0]);
        return Ok(Outcome::Passed(note));
    }
    let mut promises =
        vec![Promise::new("cold start with the runner's build", durations[0], 90.0, "s")];
    let processor = processor.map(|time| time.as_secs_f64());
    promises.extend(processor.map(|time| Promise::new("processor time", time, 170.0, "s")));
    Ok(promise::outcome(&promises, &again))
}

/// Tests the command line: errors must be one line. On stubs, one line must also name the missing
/// task.
pub(super) fn command_line(v: &Verification) -> Result<Outcome> {
    let ours = v.cargo_succeeds("test --no-fail-fast --test cli --features cli,reference")?;
    let stubs = v.cargo_succeeds("test --no-fail-fast --test cli --features cli")?;
    Ok(Outcome::Passed(count(&(ours.text + &stubs.text))?))
}

/// Runs `cargo course bench week1`: the embedded model, and a 360M Llama with random weights.
pub(super) fn bench(v: &Verification) -> Result<Outcome> {
    let finished = v.cargo_succeeds("course bench week1")?;
    let line = finished
        .text
        .lines()
        .find(|line| line.starts_with("Promised: "))
        .context("`cargo course bench week1` measured nothing")?;
    let decoded = line.rsplit("it decoded ").next().and_then(|rest| rest.split(' ').next());
    let rate: f64 = decoded.and_then(|rate| rate.parse().ok()).context(line.to_owned())?;
    // The promise is a minimum rate, so it is a maximum for the time per token.
    let token = Promise::new("time per token after a prompt of 64 tokens", 1e3 / rate, 33.0, "ms");
    Ok(promise::outcome(&[token], ""))
}
