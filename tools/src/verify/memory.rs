//! Runs the reference's tests under AddressSanitizer: every rung (set of kernels) that this machine
//! has, and all other code that reads bytes.

use std::{fs, path::PathBuf, process::Command};

use anyhow::{Context, Result, ensure};

use super::{
    context::{NotVerified, Outcome, Verification, succeeds},
    rust::count,
};
use crate::process::run_quietly;

/// Builds the reference's tests with AddressSanitizer and runs them.
pub(super) fn memory(v: &Verification) -> Result<Outcome> {
    let host = host_with_sanitizer()?;
    // Name the target, so that build scripts and macros are not instrumented.
    let mut test = v.cargo(
        "test --no-fail-fast --release --package tiny-llm-kernels --package tiny-llm-reference \
         --features tiny-llm-reference/engine --tests --target",
    );
    test.arg(host).args(["--", "--show-output"]);
    test.env("CARGO_TARGET_DIR", v.root.join("target/verify/memory"));
    // The stable compiler includes AddressSanitizer, but accepts the option only with this
    // variable.
    test.env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("ASAN_OPTIONS", "verbosity=1");
    let finished = succeeds(&mut test)?;
    ensure!(
        finished.text.contains("AddressSanitizer Init done"),
        "the tests ran without AddressSanitizer"
    );
    Ok(Outcome::Passed(format!("{}; {}", count(&finished.text)?, rungs(&finished.text)?)))
}

/// Returns the line in which the kernels' tests name the rungs that they ran.
pub(super) fn rungs(text: &str) -> Result<&str> {
    text.lines()
        .find(|line| line.starts_with("rungs: "))
        .context("the kernels' tests did not say which rungs there are")
}

/// Returns this machine's target, for which the compiler has AddressSanitizer.
fn host_with_sanitizer() -> Result<String> {
    let mut rustc = Command::new("rustc");
    let version = run_quietly(rustc.arg("-vV"))?.output;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .context("`rustc -vV` names no host")?;
    let mut rustc = Command::new("rustc");
    let libraries =
        PathBuf::from(run_quietly(rustc.args(["--print", "target-libdir"]))?.output.trim());
    let there = fs::read_dir(&libraries).is_ok_and(|files| {
        files.flatten().any(|file| file.file_name().to_string_lossy().contains("rt.asan"))
    });
    let lacks = || NotVerified(format!("the compiler for {host} comes without AddressSanitizer"));
    ensure!(there, lacks());
    Ok(host.to_owned())
}
