//! Tasks for one kind of processor: whether this machine can run them directly, and if not, how it
//! runs them under QEMU.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::process::{cargo, run_quietly};

/// A processor architecture for which the course has tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Processor {
    /// Name used by Rust and the curriculum.
    pub architecture: &'static str,
    /// Name used in messages.
    pub name: &'static str,
    /// Rust's target triple.
    target: &'static str,
    /// Prefix of the linker's name, and name of the folder of the C library in `/usr`.
    prefix: &'static str,
    /// Debian packages of the linker, the C library and the emulator.
    packages: &'static str,
}

/// All processor architectures for which the course has tasks.
pub const PROCESSORS: [Processor; 2] = [
    Processor {
        architecture: "x86_64",
        name: "x86-64",
        target: "x86_64-unknown-linux-gnu",
        prefix: "x86_64-linux-gnu",
        packages: "gcc-x86-64-linux-gnu libc6-dev-amd64-cross qemu-user",
    },
    Processor {
        architecture: "aarch64",
        name: "64-bit Arm",
        target: "aarch64-unknown-linux-gnu",
        prefix: "aarch64-linux-gnu",
        packages: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user",
    },
];

impl Processor {
    /// Returns the processor with this name in the curriculum.
    #[must_use]
    pub fn named(architecture: &str) -> Option<Self> {
        PROCESSORS.into_iter().find(|processor| processor.architecture == architecture)
    }

    /// Returns whether this machine has this processor architecture.
    #[must_use]
    pub fn is_here(self) -> bool {
        self.architecture == env::consts::ARCH
    }

    /// Like [`variable`], for this processor's target.
    fn variable(self, what: &str) -> String {
        variable(self.target, what)
    }
}

/// Returns the name of the environment variable from which cargo reads the setting `what` of
/// `target`, such as `CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER`.
#[must_use]
pub fn variable(target: &str, what: &str) -> String {
    format!("CARGO_TARGET_{}_{what}", target.to_uppercase().replace('-', "_"))
}

/// If `program` cannot be run, returns advice: install `packages`, or set `variable` to another
/// program.
#[must_use]
pub fn missing_program(program: &OsStr, packages: &str, variable: &str) -> Option<String> {
    // The command may include arguments.
    let name = program.to_string_lossy();
    let name = name.split_whitespace().next().unwrap_or_default();
    let runs = run_quietly(Command::new(name).arg("--version"));
    (!runs.is_ok_and(|finished| finished.status.success())).then(|| {
        format!("{name} (Debian, Ubuntu: `sudo apt install {packages}`, or set {variable})")
    })
}

/// The tools needed to build for another processor and to run the result.
#[derive(Debug, Clone)]
pub struct Emulation {
    processor: Processor,
    compiler: Option<Compiler>,
    linker: OsString,
    runner: OsString,
}

/// Returns the linker that comes with the default compiler. It is needed for targets without an
/// operating system. (The compiler of a Linux distribution may come without it.)
#[must_use]
pub fn rust_lld() -> Option<PathBuf> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let libraries = run_quietly(Command::new(rustc).args(["--print", "target-libdir"])).ok()?;
    let program = Path::new(libraries.output.trim()).parent()?.join("bin/rust-lld");
    program.is_file().then_some(program)
}

/// A compiler that has Rust's standard library for another target, or the library's source.
#[derive(Debug, Clone)]
pub struct Compiler {
    target: &'static str,
    cargo: OsString,
    rustc: OsString,
    /// Whether the library must first be built from source.
    from_source: bool,
}

impl Compiler {
    /// Returns the first of these compilers that is suitable for `target`: the one that a variable
    /// such as `AARCH64_RUSTC` names, the default (`RUSTC`, or `rustc` on the PATH), and
    /// `/usr/bin/rustc`.
    #[must_use]
    pub fn find(target: &'static str) -> Option<Self> {
        let architecture = target.split('-').next().unwrap_or_default();
        let named = env::var_os(format!("{}_RUSTC", architecture.to_uppercase()));
        let default = (default_cargo(), env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        let candidates = [
            named.map(|rustc| (default_cargo(), rustc)),
            Some(default),
            Some(("/usr/bin/cargo".into(), "/usr/bin/rustc".into())),
        ];
        candidates.into_iter().flatten().find_map(|(cargo, rustc)| {
            let has = |arguments: &[&str], below: &str| {
                let run = run_quietly(Command::new(&rustc).args(arguments));
                run.is_ok_and(|finished| Path::new(finished.output.trim()).join(below).is_dir())
            };
            let library = has(&["--print", "target-libdir", "--target", target], "");
            let source = || has(&["--print", "sysroot"], "lib/rustlib/src/rust/library/std");
            (library || source()).then_some(Self { target, cargo, rustc, from_source: !library })
        })
    }

    /// Returns a message that says how to get a compiler for `target`.
    #[must_use]
    pub fn missing(target: &str) -> String {
        format!(
            "Rust's library for {target} (`rustup target add {target}`, or Debian's packages \
             rustc-web, cargo-web and rust-web-src)"
        )
    }

    /// Returns the command `cargo COMMAND --target …` in `root`, with this compiler.
    #[must_use]
    pub fn cargo(&self, root: &Path, command: &str) -> Command {
        let mut cargo = cargo(root);
        if self.cargo != default_cargo() {
            let mut other = Command::new(&self.cargo);
            other.current_dir(root).env("CARGO_TERM_COLOR", "never");
            cargo = other;
        }
        cargo.env("RUSTC", &self.rustc).arg(command);
        if self.from_source {
            cargo.env("RUSTC_BOOTSTRAP", "1").args(["-Z", "build-std=std,panic_abort,test"]);
        }
        if let Some(linker) = rust_lld().filter(|_| self.target.ends_with("-unknown-unknown")) {
            cargo.env(variable(self.target, "LINKER"), linker);
        }
        cargo.args(["--target", self.target]);
        cargo
    }
}

fn default_cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

impl Emulation {
    /// Finds the tools for `processor` on this machine.
    #[must_use]
    pub fn of(processor: Processor) -> Self {
        let named = |what, default: String| {
            env::var_os(processor.variable(what)).unwrap_or_else(|| default.into())
        };
        Self {
            processor,
            compiler: Compiler::find(processor.target),
            linker: named("LINKER", format!("{}-gcc", processor.prefix)),
            runner: named("RUNNER", format!("qemu-{}", processor.architecture)),
        }
    }

    /// Returns the missing tools, each with advice on how to get it.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let Processor { target, packages, .. } = self.processor;
        let mut missing = Vec::new();
        if self.compiler.is_none() {
            missing.push(Compiler::missing(target));
        }
        for (program, what) in [(&self.linker, "LINKER"), (&self.runner, "RUNNER")] {
            missing.extend(missing_program(program, packages, &self.processor.variable(what)));
        }
        missing
    }

    /// Returns the command `cargo COMMAND --target …` in `root`. It builds for the processor into a
    /// separate folder in `target` and runs tests under QEMU. `model` is the processor that QEMU
    /// emulates, such as `max` or `cortex-a53`.
    ///
    /// # Errors
    /// If a tool is missing. The message lists all missing tools.
    pub fn cargo(&self, root: &Path, command: &str, model: &str) -> Result<Command> {
        let (missing, compiler) = (self.missing(), self.compiler.as_ref());
        ensure!(
            missing.is_empty(),
            "programs for {} can neither be built nor run here; missing: {}",
            self.processor.name,
            missing.join("; ")
        );
        let compiler = compiler.context("this processor needs no cross compiler")?;
        let mut cargo = compiler.cargo(root, command);
        cargo.env("CARGO_TARGET_DIR", crate::process::target(root).join("emulated"));
        cargo.env(self.processor.variable("LINKER"), &self.linker);
        cargo.env(self.processor.variable("RUNNER"), &self.runner);
        self.emulate(&mut cargo, model);
        Ok(cargo)
    }

    /// Returns the command that runs `program` under QEMU.
    #[must_use]
    pub fn run(&self, program: &Path, model: &str) -> Command {
        let runner = self.runner.to_string_lossy();
        let mut words = runner.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).arg(program);
        self.emulate(&mut command, model);
        command
    }

    /// Sets the environment variables of `command` that QEMU reads: the processor, and the folder
    /// of the target's C library.
    fn emulate(&self, command: &mut Command, model: &str) {
        command.env("QEMU_CPU", model);
        if env::var_os("QEMU_LD_PREFIX").is_none() {
            command.env("QEMU_LD_PREFIX", format!("/usr/{}", self.processor.prefix));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_each_missing_tool_with_advice() {
        let nowhere = || OsString::from("no-such-program --with an-option");
        let [_, arm] = PROCESSORS;
        let emulation =
            Emulation { processor: arm, compiler: None, linker: nowhere(), runner: nowhere() };
        let missing = emulation.missing();
        assert_eq!(missing.len(), 3, "{missing:?}");
        assert!(missing[0].contains("rustup target add aarch64-unknown-linux-gnu"), "{missing:?}");
        assert!(missing[1].starts_with("no-such-program ("), "{missing:?}");
        assert!(missing[1].contains("gcc-aarch64-linux-gnu"), "{missing:?}");
        assert!(
            missing[2].contains("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER"),
            "{missing:?}"
        );
        let error = emulation.cargo(Path::new("."), "test", "max").unwrap_err().to_string();
        assert!(error.contains("64-bit Arm") && error.contains("no-such-program"), "{error}");
    }

    #[test]
    fn at_most_one_processor_is_here() {
        assert!(PROCESSORS.into_iter().filter(|processor| processor.is_here()).count() <= 1);
        assert_eq!(Processor::named("aarch64"), Some(PROCESSORS[1]));
        assert_eq!(Processor::named("mips"), None);
    }
}
