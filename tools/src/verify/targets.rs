//! Other systems and processors: everything must compile for them without warnings, and the tests
//! for Windows must pass under Wine.

use std::{env, ffi::OsString, fs, path::Path, process::Command};

use anyhow::{Result, ensure};

use super::{
    context::{Outcome, Verification, succeeds},
    rust::count,
};
use crate::processor::{Compiler, missing_program, variable};

const WINDOWS: &str = "x86_64-pc-windows-gnu";

/// Targets, with their usual names.
const TARGETS: [(&str, &str); 3] = [
    ("Apple", "aarch64-apple-darwin"),
    ("Windows", WINDOWS),
    ("32-bit Arm", "armv7-unknown-linux-gnueabihf"),
];

/// Cargo's arguments for the engine with and without the reference, the runner, and the tools, each
/// with its tests.
const CHECKED: [&str; 3] = [
    "--all-targets --package tiny-llm --features cli,week1,week2",
    "--all-targets --package tiny-llm --features cli,week1,week2,reference",
    "--all-targets --package course --package course-tools --package tiny-llm-reference",
];

/// Tests that start no other program, such as cargo, which would have to exist under Wine. A small
/// model that is run in many ways is also excluded, because its waiting threads take minutes.
const TESTED: &str = "--no-fail-fast --package tiny-llm-formats --package tiny-llm-kernels \
                      --package tiny-llm-reference --lib --test arrays --test malformed \
                      --test model_folder --test tensor --test kernels --features \
                      tiny-llm-formats/model,tiny-llm-reference/engine -- --skip week2::load";

/// Debian packages of the linker for Windows and of Wine, each after the name of its program.
const TOOLS: [(&str, &str, &str); 2] =
    [("LINKER", "x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64"), ("RUNNER", "wine", "wine")];

/// C source of a Windows function that Rust's library calls. Wine has it only from version 9 on,
/// and then uses its own.
const RANDOM: &str = "#include <windows.h>\n#include <ntsecapi.h>\n\
                      __declspec(dllexport) BOOL ProcessPrng(PBYTE data, SIZE_T length) \
                      { return RtlGenRandom(data, length); }\n";

/// Runs `cargo check` for every target for which a compiler here has a library.
pub(super) fn compile(v: &Verification) -> Result<Outcome> {
    let (mut done, mut missing) = (Vec::new(), Vec::new());
    for (name, target) in TARGETS {
        let Some(compiler) = Compiler::find(target) else {
            missing.push(Compiler::missing(target));
            continue;
        };
        for arguments in CHECKED {
            let mut check = cargo(v, &compiler, "check");
            let finished = succeeds(check.args(arguments.split_whitespace()))?;
            // Cargo does not show warnings of external crates.
            let warning = finished.text.lines().find(|line| line.starts_with("warning: "));
            ensure!(warning.is_none(), "{name}: {}", warning.unwrap_or_default());
        }
        done.push(name);
    }
    let done =
        format!("engine, reference, runner and tools, with their tests: {}", done.join(", "));
    Ok(if missing.is_empty() {
        Outcome::Passed(done)
    } else {
        Outcome::NotVerified(format!("missing: {}; compiled: {done}", missing.join("; ")))
    })
}

/// Runs the Windows tests of code that reads files and of code that computes, under Wine.
pub(super) fn windows(v: &Verification) -> Result<Outcome> {
    let tools = TOOLS.map(|(what, default, packages)| {
        let variable = variable(WINDOWS, what);
        (env::var_os(&variable).unwrap_or_else(|| default.into()), packages, variable)
    });
    let compiler = Compiler::find(WINDOWS);
    let missing = missing(compiler.as_ref(), &tools);
    let (Some(compiler), true) = (compiler, missing.is_empty()) else {
        return Ok(Outcome::NotVerified(format!("missing: {}", missing.join("; "))));
    };
    let libraries = folder(v).join("wine");
    let [(linker, ..), _] = &tools;
    random(linker, &libraries)?;
    let mut test = cargo(v, &compiler, "test");
    test.args(TESTED.split_whitespace());
    for (program, _, variable) in &tools {
        test.env(variable, program);
    }
    test.env("WINEPATH", format!("Z:{}", libraries.display().to_string().replace('/', "\\")));
    // Use separate settings, and disable Wine's messages, which would appear among the tests'
    // lines.
    test.env("WINEPREFIX", libraries.join("prefix")).env("WINEDEBUG", "-all");
    Ok(Outcome::Passed(count(&succeeds(&mut test)?.text)?))
}

fn folder(v: &Verification) -> std::path::PathBuf {
    v.root.join("target/verify/targets")
}

fn cargo(v: &Verification, compiler: &Compiler, command: &str) -> Command {
    let mut cargo = compiler.cargo(&v.tree, command);
    cargo.env("CARGO_TARGET_DIR", folder(v));
    cargo
}

/// Returns the missing tools, each with how to get it.
fn missing(compiler: Option<&Compiler>, tools: &[(OsString, &str, String)]) -> Vec<String> {
    let library = compiler.is_none().then(|| Compiler::missing(WINDOWS));
    let programs = tools
        .iter()
        .filter_map(|(program, packages, variable)| missing_program(program, packages, variable));
    library.into_iter().chain(programs).collect()
}

/// Builds the library with [`RANDOM`] in `folder`.
fn random(linker: &OsString, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let source = folder.join("random.c");
    fs::write(&source, RANDOM)?;
    let mut compile = Command::new(linker);
    compile.args(["-shared", "-o"]).arg(folder.join("bcryptprimitives.dll")).arg(&source);
    succeeds(compile.arg("-ladvapi32"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_names_each_tool_and_its_package() {
        let tools = TOOLS.map(|(what, _, packages)| {
            (OsString::from("no-such-program"), packages, variable(WINDOWS, what))
        });
        let missing = missing(None, &tools);
        assert_eq!(missing.len(), 3, "{missing:?}");
        for (message, words) in missing.iter().zip([
            ["rustup target add x86_64-pc-windows-gnu", "rust-web-src"],
            ["gcc-mingw-w64-x86-64", "CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER"],
            ["apt install wine`", "CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER"],
        ]) {
            assert!(words.iter().all(|word| message.contains(word)), "{message}");
        }
    }
}
