//! Builds week 4's streamed model for a chip without an operating system, and checks that it
//! computes the same bits under QEMU as on this machine.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use super::context::{Outcome, Verification, succeeds};
use crate::{
    process::{forget_cargo, run_quietly},
    processor::{rust_lld, variable},
};

const TARGET: &str = "thumbv7em-none-eabihf";
const QEMU: &str = "qemu-system-arm";

/// Number of new tokens, and a prompt for `models/tiny-llm`, as token ids.
const NUMBERS: [&str; 5] = ["4", "300", "17", "289", "1000"];

/// A compiler for the chip's processor.
struct Compiler {
    rustc: PathBuf,
    /// Whether `core` must be built first.
    from_source: bool,
}

/// Builds `reference/bare`, runs it if QEMU is installed, and compares the results.
pub(super) fn chip(v: &Verification) -> Result<Outcome> {
    let Some(compiler) = compiler() else {
        return Ok(Outcome::NotVerified(format!(
            "missing: Rust's library for {TARGET} (`rustup target add {TARGET}`, or `rustup +nightly \
             component add rust-src`)"
        )));
    };
    let folder = v.root.join("target/verify/bare");
    fs::create_dir_all(&folder)
        .with_context(|| format!("{} cannot be created", folder.display()))?;
    let mut build = Command::new(compiler.rustc.with_file_name("cargo"));
    forget_cargo(&mut build);
    build.current_dir(v.tree.join("reference/bare")).env("RUSTC", &compiler.rustc);
    build.args(["build", "--release", "--locked", "--target", TARGET]);
    build.env("CARGO_TARGET_DIR", &folder);
    if let Some(linker) = rust_lld() {
        build.env(variable(TARGET, "LINKER"), linker);
    }
    if compiler.from_source {
        build.env("RUSTC_BOOTSTRAP", "1").args(["-Z", "build-std=core"]);
    }
    let built = succeeds(&mut build)?;
    let warning = built.text.lines().find(|line| line.starts_with("warning: "));
    ensure!(warning.is_none(), "{}", warning.unwrap_or_default());
    let runs = run_quietly(Command::new(QEMU).arg("--version"));
    if !runs.is_ok_and(|finished| finished.status.success()) {
        return Ok(Outcome::NotVerified(format!(
            "missing: {QEMU} (Debian, Ubuntu: `sudo apt install {QEMU}`); the program was built"
        )));
    }
    let file = folder.join("tiny.stream");
    // Use the settings of the steps `units` and `server`: with optimisation, building the
    // reference's kernels alone would take minutes.
    let mut here = v.cargo(
        "run --quiet --package tiny-llm-reference --features engine,text --example streamed --",
    );
    here.arg(v.tree.join("models/tiny-llm")).arg(&file).args(NUMBERS);
    let expected = tokens(&succeeds(&mut here)?.text);
    let mut emulated = Command::new(QEMU);
    emulated.args("-machine mps2-an386 -nographic -monitor none -serial none".split(' '));
    emulated.arg("-semihosting-config").arg(semihosting(&file));
    emulated.arg("-kernel").arg(folder.join(TARGET).join("release/tiny-llm-bare"));
    let finished = succeeds(&mut emulated)?;
    let found = tokens(&finished.text);
    ensure!(
        found == expected && !found.is_empty(),
        "the chip printed {found:?}, expected {expected:?}, as this machine prints"
    );
    let memory = finished.text.lines().find(|line| line.starts_with("memory "));
    Ok(Outcome::Passed(format!(
        "{} tokens from a Cortex-M4 under QEMU, bit-identical to this machine's; {}",
        found.len(),
        memory.unwrap_or_default()
    )))
}

fn tokens(text: &str) -> Vec<String> {
    text.lines().filter(|line| line.starts_with("token ")).map(str::to_owned).collect()
}

/// Returns QEMU's options for the program's command line, one word at a time.
fn semihosting(file: &Path) -> String {
    let file = file.display().to_string();
    let words = [file.as_str()].into_iter().chain(NUMBERS);
    words.fold("enable=on,target=native".to_owned(), |all, word| format!("{all},arg={word}"))
}

/// Returns the first compiler (the one that THUMBV7EM_RUSTC names, rustup's or the system's) that
/// has the library or its source.
fn compiler() -> Option<Compiler> {
    let rustup = |toolchain: &str| {
        let mut which = Command::new("rustup");
        let finished =
            run_quietly(which.args(["which", "--toolchain", toolchain, "rustc"])).ok()?;
        finished.status.success().then(|| PathBuf::from(finished.output.trim()))
    };
    let named = env::var_os("THUMBV7EM_RUSTC").map(PathBuf::from);
    let candidates = [named, rustup("stable"), rustup("nightly"), Some("/usr/bin/rustc".into())];
    candidates.into_iter().flatten().find_map(|rustc| {
        let has = |arguments: &[&str], below: &str| {
            let run = run_quietly(Command::new(&rustc).args(arguments));
            run.is_ok_and(|finished| Path::new(finished.output.trim()).join(below).is_dir())
        };
        let library = has(&["--print", "target-libdir", "--target", TARGET], "");
        let source = || has(&["--print", "sysroot"], "lib/rustlib/src/rust/library/core");
        (library || source()).then_some(Compiler { rustc, from_source: !library })
    })
}
