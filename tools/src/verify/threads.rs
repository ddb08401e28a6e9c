//! Tests the thread pool: its protocol in every order in which threads can take their steps
//! (`loom`), and its unsafe code in an interpreter that detects undefined behaviour (Miri).

use std::process::Command;

use anyhow::Result;

use super::{
    context::{Outcome, Verification, succeeds},
    rust::count,
};
use crate::process::{forget_cargo, run_quietly};

/// Runs `kernels/tests/loom.rs`.
pub(super) fn every_order(v: &Verification) -> Result<Outcome> {
    let mut test = v.cargo("test --release --package tiny-llm-kernels --test loom");
    test.env("CARGO_TARGET_DIR", v.root.join("target/verify/loom"));
    test.env("RUSTFLAGS", "--cfg loom");
    Ok(Outcome::Passed(count(&succeeds(&mut test)?.text)?))
}

/// Runs `kernels/tests/parallel.rs` in Miri, if a nightly toolchain has it. This covers all of the
/// pool's operations on pointers and threads, with a few tiles. Miri does not support vector
/// instructions, so kernels are not tested.
pub(super) fn undefined(v: &Verification) -> Result<Outcome> {
    let nightly = |arguments: &str| {
        let mut command = Command::new("rustup");
        forget_cargo(&mut command);
        command.args(["run", "nightly", "cargo", "miri"]).args(arguments.split_whitespace());
        command
    };
    if !run_quietly(&mut nightly("--version")).is_ok_and(|finished| finished.status.success()) {
        let reason = "no Miri: `rustup component add --toolchain nightly miri rust-src`";
        return Ok(Outcome::NotVerified(reason.to_owned()));
    }
    let mut test = nightly("test --package tiny-llm-kernels --test parallel");
    test.current_dir(&v.tree).env("CARGO_TARGET_DIR", v.root.join("target/verify/miri"));
    let ran = count(&succeeds(&mut test)?.text)?;
    Ok(Outcome::Passed(format!("{ran} of the thread pool, without vector instructions")))
}
