//! The kernels for 64-bit Arm: built for it, and their tests run under emulation, on a processor
//! with the dot product instruction and on one without.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, ensure};

use super::{
    context::{Outcome, Verification, succeeds},
    memory::rungs,
    rust::count,
};
use crate::process::run_quietly;

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Names a compiler that has the target's library, where the default one has not.
const RUSTC: &str = "AARCH64_RUSTC";
/// Cargo's own names for what links and what runs.
const LINKER: &str = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER";
const RUNNER: &str = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER";

/// Processors that QEMU emulates, and the fastest rung of each: the first has no dot product.
const PROCESSORS: [(&str, &str); 2] = [("cortex-a53", "neon"), ("max", "neon-dot")];

/// Builds the kernels' tests for 64-bit Arm and runs them.
pub(super) fn neon(v: &mut Verification) -> Result<Outcome> {
    if cfg!(target_arch = "aarch64") {
        let finished = v.cargo_succeeds(&format!("{TEST} -- --show-output"))?;
        return Ok(Outcome::Passed(format!(
            "natively: {}; {}",
            count(&finished.text)?,
            rungs(&finished.text)?
        )));
    }
    if !v.options.full {
        return Ok(Outcome::NotVerified("takes minutes: `cargo course verify --full`".to_owned()));
    }
    let tools = Tools::from_environment();
    let missing = tools.missing();
    if !missing.is_empty() {
        return Ok(Outcome::NotVerified(format!("missing: {}", missing.join("; "))));
    }
    let mut notes = Vec::new();
    for (processor, rung) in PROCESSORS {
        let mut test =
            v.cargo(&format!("{TEST} --target {TARGET} -- --show-output --skip week2::load"));
        // Left out: a small model, run in every way, whose waiting threads take minutes under
        // emulation.
        test.env("CARGO_TARGET_DIR", v.root.join("target/verify/arm"));
        test.env("RUSTC", &tools.rustc).env(LINKER, &tools.linker).env(RUNNER, &tools.runner);
        // Read by QEMU: the processor, and where the target's C library lies.
        test.env("QEMU_CPU", processor);
        if env::var_os("QEMU_LD_PREFIX").is_none() {
            test.env("QEMU_LD_PREFIX", "/usr/aarch64-linux-gnu");
        }
        let finished = succeeds(&mut test)?;
        let (tests, rungs) = (count(&finished.text)?, rungs(&finished.text)?);
        ensure!(rungs.ends_with(rung), "{processor} has {rungs}, expected {rung} as the fastest");
        notes.push(format!("{processor}: {tests}; {rungs}"));
    }
    Ok(Outcome::Passed(notes.join("; ")))
}

const TEST: &str = "test --no-fail-fast --release --package tiny-llm-kernels --package tiny-llm-reference --features tiny-llm-reference/engine --lib --test kernels";

/// What it takes to build and run a program for another processor.
struct Tools {
    rustc: OsString,
    linker: OsString,
    runner: OsString,
}

impl Tools {
    fn from_environment() -> Self {
        let named =
            |variable: &str, default: &str| env::var_os(variable).unwrap_or_else(|| default.into());
        Self {
            rustc: env::var_os(RUSTC).unwrap_or_else(|| named("RUSTC", "rustc")),
            linker: named(LINKER, "aarch64-linux-gnu-gcc"),
            runner: named(RUNNER, "qemu-aarch64"),
        }
    }

    /// What is not there, each with how to get it.
    fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        let print = run_quietly(Command::new(&self.rustc).args([
            "--print",
            "target-libdir",
            "--target",
            TARGET,
        ]));
        if !print.is_ok_and(|finished| Path::new(finished.output.trim()).is_dir()) {
            missing.push(format!("Rust's library for {TARGET} (`rustup target add {TARGET}`, or name a compiler that has it in {RUSTC})"));
        }
        let packages = "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user";
        for (program, variable) in [(&self.linker, LINKER), (&self.runner, RUNNER)] {
            // The runner may come with arguments.
            let name = PathBuf::from(
                program.to_string_lossy().split_whitespace().next().unwrap_or_default(),
            );
            if !run_quietly(Command::new(&name).arg("--version"))
                .is_ok_and(|finished| finished.status.success())
            {
                missing.push(format!(
                    "{} (Debian, Ubuntu: `sudo apt install {packages}`, or {variable})",
                    name.display()
                ));
            }
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_tool_is_named_with_its_remedy() {
        let nowhere = || OsString::from("no-such-program --with an-option");
        let missing =
            Tools { rustc: "no-such-rustc".into(), linker: nowhere(), runner: nowhere() }.missing();
        assert_eq!(missing.len(), 3, "{missing:?}");
        assert!(
            missing[0].contains("rustup target add aarch64-unknown-linux-gnu")
                && missing[0].contains(RUSTC),
            "{missing:?}"
        );
        assert!(
            missing[1].starts_with("no-such-program (")
                && missing[1].contains("gcc-aarch64-linux-gnu"),
            "{missing:?}"
        );
        assert!(missing[2].contains("qemu-user") && missing[2].contains(RUNNER), "{missing:?}");
    }
}
