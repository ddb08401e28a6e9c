//! The proof program: one build that can run every day's tests on the reference, on its stubs and
//! on every body of the bank.
//!
//! Building each stage of each day, each mistake and each day's program separately takes an hour.
//! Instead, in a copy of the repository, the reference's functions choose their body when they are
//! called, and one test program has a module for each day. Two environment variables control the
//! choice: [`SOLVED`] is the number of solved tasks of the course, and [`VARIANT`] selects a body
//! of the bank.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{
    curriculum::{Curriculum, Day, TaskId},
    files::write_if_changed,
    libtest::own_name,
    pristine::copy_tree,
    process::{cargo, forget_cargo, run_quietly},
    processor::Emulation,
    stubs::generated,
};

/// Environment variable: the number of solved tasks, from the first task of the course. The others
/// are stubs. If it isn't set, all are solved.
pub(crate) const SOLVED: &str = "COURSE_SOLVED";

/// Environment variable: the number of the body to run. 0, or no value, selects the reference's.
pub(crate) const VARIANT: &str = "COURSE_VARIANT";

/// Code that chooses the body of a function, for the end of the copy's `reference/src/lib.rs`.
const CHOICE: &str = r#"
/// Which body a function runs.
pub mod proof {
    pub const STUB: usize = usize::MAX;

    /// The body of a function that belongs to the course's task at place `order`.
    pub fn body(order: usize) -> usize {
        static CHOSEN: std::sync::OnceLock<(usize, usize)> = std::sync::OnceLock::new();
        let number = |name: &str, default: usize| {
            std::env::var(name).map_or(default, |number| number.parse().expect("a number"))
        };
        let read = || (number("COURSE_SOLVED", usize::MAX), number("COURSE_VARIANT", 0));
        let (solved, variant) = *CHOSEN.get_or_init(read);
        if solved <= order { STUB } else { variant }
    }
}
"#;

/// Environment variable and value that set the stack size of each thread to 64 MiB, because all
/// bodies of a function share its stack frame, with separate buffers.
pub(crate) const STACK: (&str, &str) = ("RUST_MIN_STACK", "67108864");

/// Name of the test program that contains all days.
pub(crate) const PROGRAM: &str = "all_days";

/// Another body for a function of the reference, such as a mistake of the bank.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variant<'a> {
    /// Number that selects this body in the program, counted from 1.
    pub(crate) number: usize,
    /// Path, such as `src/week1/gqa/gqa.rs`.
    pub(crate) file: &'a str,
    pub(crate) function: &'a str,
    /// Where the body comes from, for the compiler's messages.
    pub(crate) place: &'a str,
    pub(crate) body: &'a str,
}

impl Variant<'_> {
    /// Returns the arm of a `match` that runs this body.
    pub(crate) fn arm(&self) -> String {
        let Self { number, place, body, .. } = self;
        format!("{number} => {{ // {place}\n{body}\n}}")
    }
}

/// Returns code that reads the number in [`VARIANT`] at run time, for copies without [`CHOICE`].
pub(crate) fn chosen() -> String {
    format!(
        "{{ static NUMBER: std::sync::OnceLock<usize> = std::sync::OnceLock::new(); \
         *NUMBER.get_or_init(|| std::env::var({VARIANT:?}).map_or(0, \
         |number| number.parse().expect(\"a number\"))) }}"
    )
}

/// Writes a copy of the repository to `tree`, in which the reference's functions choose their body.
/// Leaves files that are up to date untouched, so that cargo builds only what changed.
///
/// # Errors
/// If a file cannot be read or written.
pub(crate) fn write(
    root: &Path,
    curriculum: &Curriculum,
    tree: &Path,
    variants: &[Variant],
) -> Result<()> {
    let mut instead = frame(root, curriculum)?;
    let mut of_function: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for variant in variants {
        of_function.entry((variant.file, variant.function)).or_default().push(variant.arm());
    }
    let ids: Vec<TaskId> = curriculum.tasks().map(|(id, _)| id).collect();
    let order = |id: &TaskId| ids.iter().position(|other| other == id).unwrap_or(usize::MAX);
    for file in generated(root, curriculum)? {
        let text = file.template.render_arms(|id, function| {
            let stub = format!("crate::proof::STUB => todo!(\"{}\"),", id.message(function));
            let others = of_function.get(&(file.path.as_str(), function)).into_iter().flatten();
            let arms = std::iter::once(stub).chain(others.cloned()).collect();
            (format!("crate::proof::body({})", order(id)), arms)
        });
        instead.insert(Path::new("reference").join(&file.path), text.into_bytes());
    }
    let library = without_warnings(&root.join("reference/src/lib.rs"))? + CHOICE;
    instead.insert("reference/src/lib.rs".into(), library.into_bytes());
    copy_tree(root, curriculum, tree, instead)?;
    Ok(())
}

/// Returns the files, by path in a copy, that combine all days' tests into one program. Each day's
/// tests need the day's feature. Also writes the [`settings`].
///
/// # Errors
/// If a file cannot be read or written.
pub(crate) fn frame(root: &Path, curriculum: &Curriculum) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    settings(root)?;
    let mut instead = BTreeMap::new();
    let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
    let entry = format!("\n[[test]]\nname = \"{PROGRAM}\"\npath = \"tests/{PROGRAM}.rs\"\n");
    instead.insert("Cargo.toml".into(), (manifest + &entry).into_bytes());
    let mut all = HEAD.to_owned();
    for day in curriculum.days() {
        let (module, path) = (day.module(), format!("tests/{}.rs", day.module()));
        let text = fs::read_to_string(root.join(&path)).with_context(|| path.clone())?;
        instead.insert(path.into(), without_allocator(&text).into_bytes());
        let _ = writeln!(all, "#[cfg(feature = {:?})]", day.feature);
        let _ = writeln!(all, "#[path = \"{module}.rs\"]\nmod {module};");
    }
    instead.insert(format!("tests/{PROGRAM}.rs").into(), all.into_bytes());
    Ok(instead)
}

/// The crates that are compiled at optimization level 1 for the tests. At this level, a crate uses
/// the instances of generic functions that its dependencies have already compiled. If such a
/// dependency were not optimized, those functions would be slow in all crates that depend on it.
const OPTIMIZED: [&str; 6] =
    ["half", "ndarray", "serde_json", "tiny-llm-formats", "tiny-llm-harness", "tiny-llm-reference"];

/// The beginning of the test program. A program has only one allocator, so all days share one that
/// counts allocations.
const HEAD: &str = "\
#![allow(warnings)]
#[global_allocator]
static ALLOCATOR: tiny_llm_harness::allocations::CountingAllocator =
    tiny_llm_harness::allocations::CountingAllocator;
";

fn without_allocator(text: &str) -> String {
    let mut lines = text.lines();
    let mut kept = String::new();
    while let Some(line) = lines.next() {
        if line.trim() == "#[global_allocator]" {
            lines.next();
        } else {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}

/// Returns the text of a crate's `lib.rs` with all warnings disabled, because a wrong body may
/// leave things unused.
pub(crate) fn without_warnings(library: &Path) -> std::io::Result<String> {
    let library = fs::read_to_string(library)?;
    let (docs, rest): (Vec<&str>, Vec<&str>) =
        library.lines().partition(|line| line.starts_with("//!"));
    Ok(format!("{}\n#![allow(warnings)]\n{}\n", docs.join("\n"), rest.join("\n")))
}

/// Writes the profile for all proofs to `target/verify`, where cargo finds it from every copy. It
/// has no debug information, which would take gigabytes. Builds are not incremental, because most
/// crates are built once. The exception is the bridge, which is built again for each change of the
/// reference, by a single thread. Code is optimized where the tests spend their time.
fn settings(root: &Path) -> Result<()> {
    let mut text = "[profile.dev]\ndebug = false\nincremental = false\n".to_owned();
    for package in OPTIMIZED {
        let _ = write!(text, "\n[profile.dev.package.{package}]\nopt-level = 1\n");
    }
    text += "\n[profile.dev.package.tiny-llm-bridge]\nincremental = true\n";
    write_if_changed(&root.join("target/verify/.cargo/config.toml"), text.as_bytes())
}

/// Writes a file for cargo's `--config` that undoes [`settings`]. With it, verification measures
/// builds as learners run them.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn learners_profile(root: &Path) -> Result<PathBuf> {
    let mut text = "[profile.dev]\ndebug = \"line-tables-only\"\nincremental = true\n".to_owned();
    for package in OPTIMIZED {
        let _ = write!(text, "\n[profile.dev.package.{package}]\nopt-level = 0\n");
    }
    let path = root.join("target/verify/.cargo/learner.toml");
    write_if_changed(&path, text.as_bytes())?;
    Ok(path)
}

/// The compiled test program.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    tree: PathBuf,
    path: PathBuf,
    /// Tests, such as `week1_day1::task_1::task_1_sums`.
    tests: Vec<String>,
    /// How to run the program, if it is for another processor.
    emulation: Option<Emulation>,
}

impl Program {
    /// Builds the program with the tests of `days` in the copy `tree`. Verification's own program
    /// has other features, so it is not replaced. Both programs share all other crates.
    ///
    /// # Errors
    /// If something does not compile. In the compiler's message, a comment next to a body names the
    /// entry's file.
    pub(crate) fn build(
        root: &Path,
        tree: &Path,
        days: &[&Day],
        emulation: Option<Emulation>,
    ) -> Result<Self> {
        let features: String =
            days.iter().map(|day| format!(",tiny-llm/{}", day.feature)).collect();
        let features = format!("tiny-llm/reference,tiny-llm/fresh{features}");
        let arguments = ["--test", PROGRAM, "--features", &features];
        let mut programs = build(root, tree, emulation.as_ref(), &arguments)?;
        let path = programs.remove(PROGRAM).context("cargo built no test program")?;
        Self::open(tree, path, emulation)
    }

    /// Lists the tests of the program at `path`, which was built in the copy `tree`.
    ///
    /// # Errors
    /// If it cannot list its tests.
    pub(crate) fn open(tree: &Path, path: PathBuf, emulation: Option<Emulation>) -> Result<Self> {
        let mut program = Self { tree: tree.to_owned(), path, tests: Vec::new(), emulation };
        let mut list = program.start();
        let listed = run_quietly(list.args(["--list", "--format", "terse"]))?;
        ensure!(listed.status.success(), "the tests cannot be listed:\n{}", listed.tail(20));
        let names = listed.output.lines().filter_map(|line| line.strip_suffix(": test"));
        program.tests = names.map(str::to_owned).collect();
        Ok(program)
    }

    /// Returns the copy in which the program was built.
    pub(crate) fn tree(&self) -> &Path {
        &self.tree
    }

    /// Returns a command that starts the program.
    fn start(&self) -> Command {
        let mut command = match &self.emulation {
            Some(emulation) => emulation.run(&self.path, "max"),
            None => Command::new(&self.path),
        };
        forget_cargo(&mut command);
        command.current_dir(&self.tree).env_remove("RUST_BACKTRACE");
        command.env(STACK.0, STACK.1);
        // Wrong answers are recorded with Mesa's software renderer, which gives the same answers on
        // every machine.
        command.env("TINY_LLM_GPU", "software");
        command
    }

    /// Returns a command that runs the tests of the day `module` whose names without modules
    /// satisfy `wanted`, or `None` if there are none. Omits the tests that answer a grading's
    /// questions.
    pub(crate) fn tests(&self, module: &str, wanted: impl Fn(&str) -> bool) -> Option<Command> {
        self.of_day(module, |name| !name.contains("::fresh::") && wanted(own_name(name)))
    }

    /// Returns a command that answers a grading's questions for the day `module`, if it has any.
    pub(crate) fn fresh(&self, module: &str) -> Option<Command> {
        self.of_day(module, |name| name.contains("::fresh::"))
    }

    fn of_day(&self, module: &str, wanted: impl Fn(&str) -> bool) -> Option<Command> {
        let start = format!("{module}::");
        let of_day = |name: &&String| name.starts_with(&start) && wanted(name);
        let names: Vec<&String> = self.tests.iter().filter(of_day).collect();
        let mut command = self.start();
        command.env("COURSE_DAY", module).arg("--exact").args(&names);
        (!names.is_empty()).then_some(command)
    }
}

/// Runs `cargo build` with `arguments` in the copy `tree`. Returns the built programs by name.
///
/// # Errors
/// If something does not compile.
pub(crate) fn build(
    root: &Path,
    tree: &Path,
    emulation: Option<&Emulation>,
    arguments: &[&str],
) -> Result<BTreeMap<String, PathBuf>> {
    let mut command = match emulation {
        Some(emulation) => emulation.cargo(tree, "build", "max")?,
        None => {
            let mut command = cargo(tree);
            command.arg("build");
            command
        }
    };
    command.args(["--message-format", "json-render-diagnostics"]).args(arguments);
    // Cargo does not distinguish two copies of a workspace, and would run a program that was built
    // in the other copy. But a crate with different settings is a different crate for cargo, and so
    // are all crates that use it.
    command.args(["--config", "profile.dev.package.tiny-llm-reference.codegen-units=17"]);
    // These two crates are built incrementally, so that a changed body takes only seconds to build.
    for package in ["tiny-llm", "tiny-llm-reference"] {
        command.arg("--config").arg(format!("profile.dev.package.{package}.incremental=true"));
    }
    let folder = if emulation.is_some() { "target/verify/arm" } else { "target/verify/build" };
    command.env("CARGO_TARGET_DIR", root.join(folder));
    let finished = run_quietly(&mut command)?;
    // Cargo's messages are lines of JSON. The compiler's text is not.
    let said: Vec<&str> = finished.text.lines().filter(|line| !line.starts_with('{')).collect();
    ensure!(finished.status.success(), "the build fails:\n{}", said.join("\n"));
    Ok(finished.output.lines().filter_map(executable).collect())
}

/// If `message` reports that cargo has built a program, returns the program's name and path.
fn executable(message: &str) -> Option<(String, PathBuf)> {
    let message: Value = serde_json::from_str(message).ok()?;
    let (name, program) = (message["target"]["name"].as_str()?, message["executable"].as_str()?);
    Some((name.to_owned(), program.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_allocator_removes_the_allocator() {
        let text = "use a;\n\n#[global_allocator]\nstatic A: B = B;\n\nfn b() {}\n";
        assert_eq!(without_allocator(text), "use a;\n\n\nfn b() {}\n");
    }

    #[test]
    fn executable_parses_cargos_messages() {
        let line = r#"{"target":{"name":"all_days"},"executable":"/a/b"}"#;
        assert_eq!(executable(line), Some(("all_days".to_owned(), "/a/b".into())));
        assert_eq!(executable(r#"{"target":{"name":"lib"},"executable":null}"#), None);
        assert_eq!(executable("warning: unused"), None);
    }
}
