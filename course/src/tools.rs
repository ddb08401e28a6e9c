//! Separate programs: the tools of maintainers and instructors, the book builder, and the engine.
//! Each is built when it is first called.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail, ensure};

use crate::{engine, estimate, process, processor::Compiler, progress};

/// The commands of `tools/`, with their descriptions.
pub(crate) const TOOLS: [(&str, &str); 5] = [
    ("verify", "Check the course on this machine (--thorough: everything)"),
    ("stubs", "Generate src/ from reference/, with a todo! for every task"),
    ("matrix", "Run the tests with each known mistake in turn, and record the wrong answers"),
    ("bench", "Measure the engine: tokens per second, memory, quality"),
    ("grade", "Grade learners' folders (writes JUnit, Gradescope's results.json and a table)"),
];

/// How to build the tools: with the runner's profile, in its build folder.
const TOOLS_BUILD: [&str; 4] = ["--profile", "course", "--package", "course-tools"];

/// How to build the book builder.
const BOOK_BUILD: [&str; 3] = ["--release", "--package", "book-builder"];

/// Returns the tools' part of the runner's help.
pub(crate) fn help() -> String {
    let lines = TOOLS.map(|(name, about)| format!("\n  {name:<7} {about}")).concat();
    format!("For maintainers and instructors (built on first use):{lines}")
}

/// Builds the tools if necessary, and replaces this process with the tool command `name`.
///
/// # Errors
/// If there is no such command, or the tools do not build.
pub(crate) fn run(root: &Path, name: &str, arguments: &[OsString]) -> Result<ExitCode> {
    if !TOOLS.iter().any(|(tool, _)| *tool == name) {
        bail!("there is no command {name:?}; `cargo course --help` lists the commands");
    }
    let words: Vec<OsString> = [name.into()].into_iter().chain(arguments.iter().cloned()).collect();
    become_program(root, progress::Build::of("the tools", &TOOLS_BUILD), &words)
}

/// Builds the book builder if necessary, and replaces this process with it.
///
/// # Errors
/// If the book builder does not build.
pub(crate) fn book(root: &Path, arguments: &[OsString]) -> Result<ExitCode> {
    let mut arguments = arguments.to_vec();
    if !arguments.iter().any(|argument| argument == "--list-commands") {
        match web_engine(root) {
            Ok(folder) => arguments.extend(["--engine".into(), folder.into()]),
            Err(why) => {
                eprintln!("The book's pages show pictures instead of a running engine: {why:#}");
            }
        }
    }
    become_program(root, progress::Build::of("the book builder", &BOOK_BUILD), &arguments)
}

/// Rust's target for the engine that runs in the book's pages.
const WEB: &str = "wasm32-unknown-unknown";

/// Cargo's arguments for building the engine of the book's pages, and for packing its model.
const WEB_BUILD: &str = "--quiet --profile web --package tiny-llm-web --lib";
const WEB_PACK: &str = "run --quiet --package tiny-llm-web --features pack --bin pack --";

/// Builds the engine and packs the model that the book's pages fetch. Returns the folder that
/// contains both.
fn web_engine(root: &Path) -> Result<PathBuf> {
    let compiler = Compiler::find(WEB).with_context(|| {
        format!("the engine cannot be compiled for web pages; missing: {}", Compiler::missing(WEB))
    })?;
    let target = process::target(root);
    let (folder, module) =
        (target.join("web/book"), target.join(WEB).join("web/tiny_llm_web.wasm"));
    if !module.exists() {
        eprintln!("building the engine for the book's pages (about a minute, only the first time)");
    }
    let mut build = compiler.cargo(root, "build");
    build.env("CARGO_TARGET_DIR", &target).args(WEB_BUILD.split(' '));
    let mut pack = process::cargo(root);
    pack.args(WEB_PACK.split(' ')).arg(&folder);
    for mut command in [build, pack] {
        let status = command.status().context("cargo cannot be started")?;
        ensure!(
            status.success(),
            "the engine for the book's pages does not build: `{}` failed",
            process::shown(&command)
        );
    }
    let copy = folder.join("engine.wasm");
    fs::copy(&module, &copy).with_context(|| format!("{} cannot be written", copy.display()))?;
    Ok(folder)
}

/// Builds the engine with cargo's options `build` if necessary, and replaces this process with it:
/// `cargo llm ARGUMENTS`.
///
/// # Errors
/// If the command line does not build.
pub(crate) fn engine(root: &Path, build: &[&str], arguments: &[OsString]) -> Result<ExitCode> {
    let built_before = engine::program(root).is_file();
    let estimate = if built_before { None } else { estimate::of(root, estimate::ENGINE) };
    if let Some(time) = estimate {
        eprintln!(
            "The first build of the engine takes {} (estimated from a quick measurement of this \
             machine). Later builds compile only what you have changed.",
            estimate::words(time)
        );
    }
    become_program(
        root,
        progress::Build { what: "the engine", arguments: build, estimate },
        arguments,
    )
}

fn become_program(root: &Path, build: progress::Build, arguments: &[OsString]) -> Result<ExitCode> {
    build.run(root)?;
    let mut command = process::cargo(root);
    command.args(["run", "--quiet"]).args(build.arguments).arg("--").args(arguments);
    // The program has this terminal to itself and may use colours.
    command.env_remove("CARGO_TERM_COLOR");
    // Paths in the program's arguments are relative to the current folder.
    command.current_dir(".");
    // On Unix, the program replaces this process, so that only the program receives Ctrl-C and
    // signals.
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        Err(command.exec()).context("cargo cannot be started")
    }
    #[cfg(not(unix))]
    {
        let status = command.status().context("cargo cannot be started")?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
    }
}
