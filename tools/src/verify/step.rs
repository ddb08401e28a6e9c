//! The list of steps: what each checks, when it runs, and what it reads.

use anyhow::Result;

pub(super) use super::context::{Load, Reads};
use super::{
    arm, bare, book, browser, chip, cluster,
    context::{Outcome, Size, Verification},
    engine, fetch, fuzz, gpu, grade, latency, memory, mutants, planted, proofs, python, real, rust,
    server, targets, threads, tree, waiting, words,
};

/// One step.
pub(super) struct Step {
    /// The step's name, for `--only`.
    pub(super) id: &'static str,
    /// What the step checks.
    pub(super) shows: &'static str,
    pub(super) size: Size,
    /// Steps whose results this step uses.
    pub(super) after: &'static [&'static str],
    pub(super) load: Load,
    /// Processor seconds on two idle cores of an AMD EPYC (Zen 3), with nothing built.
    pub(super) seconds: u32,
    pub(super) reads: &'static [Reads],
    pub(super) run: fn(&Verification) -> Result<Outcome>,
}

use Load::{All, Alone, Little, One};
use Reads::{Package, Path};
use Size::{Full, Quick, Thorough};

const COURSE: Reads = Path("course/curriculum.toml");
const REFERENCE: Reads = Package("tiny-llm-reference");
const HARNESS: Reads = Package("tiny-llm-harness");
const DAYS: Reads = Path("tests/week");
const PARTS: Reads = Path("tests/parts");
const FIXTURES: Reads = Path("tests/fixtures");
const WRONG: Reads = Path("tests/wrong");
const ALTERNATE: Reads = Path("tests/alternate");
const HELD_OUT: Reads = Path("tests/held-out");

const fn step(
    id: &'static str,
    shows: &'static str,
    (size, load, seconds): (Size, Load, u32),
    after: &'static [&'static str],
    reads: &'static [Reads],
    run: fn(&Verification) -> Result<Outcome>,
) -> Step {
    Step { id, shows, size, after, load, seconds, reads, run }
}

/// Every step, in the order of the closing table.
pub(super) const STEPS: [Step; 49] = [
    step(
        "stubs",
        "src/ is generated from reference/",
        (Quick, One, 1),
        &[],
        &[Path("src/"), Path("reference/"), COURSE],
        rust::stubs,
    ),
    step(
        "curriculum",
        "features, tests, oracle and book agree with the curriculum",
        (Quick, One, 1),
        &[],
        &[Reads::All],
        rust::curriculum,
    ),
    step("copy", "a pristine copy", (Quick, One, 1), &[], &[Reads::All], tree::copy),
    step(
        "python",
        "the Python environment",
        (Quick, Little, 65),
        &[],
        &[Path("pyproject.toml")],
        python::environment,
    ),
    step(
        "build",
        "all days' tests, the engine, server, bridge and book builder compile",
        (Quick, All, 460),
        &["copy"],
        &[Package("tiny-llm"), HARNESS, Package("tiny-llm-bridge"), Package("book-builder")],
        proofs::build,
    ),
    step(
        "replay",
        "every task fails with its own todo!, then passes",
        (Quick, All, 45),
        &["build"],
        &[REFERENCE, HARNESS, DAYS, PARTS, FIXTURES, COURSE],
        proofs::replay,
    ),
    step(
        "mistakes",
        "a sample of the known mistakes is caught and named",
        (Quick, All, 40),
        &["build"],
        &[REFERENCE, HARNESS, DAYS, PARTS, FIXTURES, WRONG, ALTERNATE, COURSE],
        proofs::mistakes,
    ),
    step(
        "engine",
        "the engine tells a story, the server answers",
        (Quick, One, 2),
        &["build"],
        &[Package("tiny-llm"), Path("models/")],
        proofs::engine,
    ),
    step(
        "book",
        "the book builds",
        (Quick, One, 5),
        &["build"],
        &[Path("book/"), COURSE],
        book::build,
    ),
    step(
        "fixtures",
        "PyTorch still computes the committed fixtures",
        (Quick, One, 55),
        &["python"],
        &[Path("python-ref/oracle"), Path("tests/fixtures"), Path("pyproject.toml")],
        python::oracle,
    ),
    step(
        "bridge",
        "pytest on stubs and reference, with fresh inputs",
        (Quick, One, 110),
        &["python", "build"],
        &[Package("tiny-llm-bridge"), Path("python-ref/"), Path("pyproject.toml"), FIXTURES],
        python::bridge,
    ),
    step(
        "gpu",
        "week 4, day 5 on a graphics adapter: tasks fail, then pass, mistakes are caught",
        (Quick, All, 200),
        // It writes to the copy from which the bridge's tests take files.
        &["build", "bridge"],
        &[
            Package("tiny-llm-gpu"),
            Path("tests/week4_day5"),
            Path("reference/src/week4/gpu"),
            Path("provided/week4/gpu"),
        ],
        gpu::gpu,
    ),
    step(
        "bare",
        "the steps above pass with only Rust and Python installed",
        (Thorough, Alone, 0),
        &[],
        &[Package("course-tools"), Path(".cargo/")],
        bare::bare,
    ),
    step(
        "start",
        "`cargo course start`: environment, story, first task",
        (Thorough, Alone, 60),
        &["copy"],
        &[Package("course"), Package("tiny-llm-reference")],
        engine::start,
    ),
    step(
        "locks",
        "no command waits for a build that it does not need",
        (Thorough, Alone, 10),
        &["copy"],
        &[Package("course"), Path("Cargo.toml"), Path(".cargo/")],
        waiting::locks,
    ),
    step(
        "libraries",
        "no library is built twice",
        (Thorough, One, 5),
        &["copy"],
        &[Path("Cargo.toml"), Path("Cargo.lock")],
        waiting::libraries,
    ),
    step(
        "words",
        "spelling, and phrases that readers had to read twice",
        (Thorough, One, 10),
        &["copy", "python"],
        &[Reads::All],
        words::words,
    ),
    step("formatting", "rustfmt", (Thorough, One, 10), &["copy"], &[Reads::All], rust::formatting),
    step(
        "documentation",
        "rustdoc, without a warning",
        (Thorough, All, 90),
        &["copy"],
        &[Package("tiny-llm"), HARNESS, Package("course-tools"), Package("book-builder")],
        rust::documentation,
    ),
    step(
        "clippy",
        "Clippy, without a warning",
        (Thorough, All, 180),
        &["copy"],
        &[Package("tiny-llm"), HARNESS, Package("course-tools"), Package("book-builder")],
        rust::clippy,
    ),
    step(
        "units",
        "unit tests of every crate",
        (Thorough, All, 570),
        &["copy"],
        &[Package("tiny-llm"), HARNESS, Package("course-tools"), Package("book-builder")],
        rust::unit_tests,
    ),
    step(
        "alone",
        "`cargo test` without options passes and says how to start",
        (Thorough, All, 20),
        &["copy"],
        &[Package("tiny-llm"), HARNESS],
        rust::test_alone,
    ),
    step(
        "days",
        "each day compiles with its own feature alone, without a warning",
        (Thorough, All, 110),
        &["copy"],
        &[Package("tiny-llm"), HARNESS, COURSE],
        rust::days,
    ),
    step(
        "stages",
        "the learner's crate compiles at each stage, without a warning",
        (Thorough, Alone, 45),
        &["copy"],
        &[Package("tiny-llm"), COURSE],
        rust::stages,
    ),
    step(
        "matrix",
        "every mistake caught and named, every alternate accepted, held-out mistakes caught",
        (Thorough, All, 620),
        &["build"],
        &[REFERENCE, HARNESS, DAYS, PARTS, FIXTURES, WRONG, ALTERNATE, HELD_OUT, COURSE],
        proofs::matrix,
    ),
    step(
        "arm",
        "64-bit Arm: NEON kernels, tasks and mistakes",
        (Full, Alone, 500),
        &["copy"],
        &[Package("tiny-llm-kernels"), Path("reference/"), WRONG],
        arm::neon,
    ),
    step(
        "chip",
        "the streamed model on a Cortex-M4, under QEMU",
        (Thorough, One, 45),
        &["copy"],
        &[Path("reference/"), Path("models/tiny-llm")],
        chip::chip,
    ),
    step(
        "first-day",
        "times of the first day: a cold build, and from an edit to the verdict",
        (Full, Alone, 30),
        &["copy"],
        &[Package("tiny-llm"), HARNESS],
        latency::first_day,
    ),
    step(
        "runner",
        "times of the runner: a cold build, the list, and from a save to the verdict",
        (Thorough, Alone, 130),
        &["copy"],
        &[Package("course")],
        latency::runner,
    ),
    step(
        "cli",
        "the command line: bad input, missing tasks",
        (Thorough, All, 70),
        &["copy"],
        &[Package("tiny-llm"), Path("tests/cli")],
        engine::command_line,
    ),
    step(
        "trace",
        "`cargo course trace` names the task of a planted mistake",
        (Full, Alone, 350),
        &["copy"],
        &[Package("tiny-llm"), Package("course"), WRONG],
        planted::trace,
    ),
    step(
        "speed",
        "tokens per second and memory",
        (Thorough, Alone, 60),
        &["copy"],
        &[Package("tiny-llm")],
        engine::bench,
    ),
    step(
        "grade",
        "honest, broken and hostile submissions",
        (Thorough, Little, 200),
        &["copy"],
        &[Package("course-tools"), Path("tests/hostile"), Path("tests/fresh")],
        grade::grade,
    ),
    step(
        "commands",
        "every command of the book does what the book says",
        (Thorough, All, 580),
        &["copy"],
        &[Reads::All],
        book::commands,
    ),
    step(
        "server",
        "the server with good and bad clients, curl and openai",
        (Thorough, All, 40),
        &["copy", "python"],
        &[Package("tiny-llm-server"), Path("tests/serve"), Path("server/")],
        server::server,
    ),
    step(
        "fetch",
        "models fetched from good and bad hubs, in a cache shared with `huggingface_hub`",
        (Thorough, All, 60),
        &["copy", "python"],
        &[Package("tiny-llm-fetch"), Path("fetch/")],
        fetch::fetch,
    ),
    step(
        "browser",
        "the book's pages and the server's",
        (Thorough, Little, 300),
        &["copy", "python"],
        &[Package("tiny-llm-web"), Path("book/"), Path("server/")],
        browser::browser,
    ),
    step(
        "wheel",
        "the bridge as a wheel, with all of its pytest tests",
        (Full, All, 450),
        &["copy", "python"],
        &[Package("tiny-llm-bridge"), Path("python-ref/"), Path("pyproject.toml")],
        python::wheel,
    ),
    step(
        "models",
        "the embedded models' scores, the book's figures",
        (Thorough, One, 95),
        &["copy", "python"],
        &[Path("models/"), Path("python-ref/"), Path("book/figures")],
        python::models,
    ),
    step(
        "real",
        "a published model: logits, tokens and texts compared with PyTorch's",
        (Thorough, One, 400),
        &["copy", "python"],
        &[Package("tiny-llm-server"), Package("tiny-llm"), Path("python-ref/real")],
        real::real,
    ),
    step(
        "mutants",
        "the tests notice every small change to a task's solution",
        (Full, Alone, 700),
        &["copy"],
        &[Package("tiny-llm"), HARNESS],
        mutants::mutants,
    ),
    step(
        "memory",
        "the reference under AddressSanitizer",
        (Full, Alone, 300),
        &["copy"],
        &[Package("tiny-llm-reference")],
        memory::memory,
    ),
    step(
        "orders",
        "the thread pool in every interleaving, by loom",
        (Full, Alone, 300),
        &["copy"],
        &[Package("tiny-llm-kernels")],
        threads::every_order,
    ),
    step(
        "undefined",
        "no undefined behavior in the thread pool, by Miri",
        (Full, Alone, 600),
        &["copy"],
        &[Package("tiny-llm-kernels")],
        threads::undefined,
    ),
    step(
        "targets",
        "compiles for Apple, Windows and 32-bit Arm",
        (Full, Alone, 300),
        &["copy"],
        &[Package("tiny-llm")],
        targets::compile,
    ),
    step(
        "windows",
        "tests for Windows, under Wine",
        (Full, Alone, 300),
        &["copy"],
        &[Package("tiny-llm")],
        targets::windows,
    ),
    step(
        "fuzz",
        "no input crashes a parser, by fuzzing",
        (Full, Alone, 3000),
        &["copy"],
        &[Package("tiny-llm-formats"), Path("fuzz/")],
        fuzz::fuzz,
    ),
    step(
        "cluster",
        "replicas on two nodes, with Ray",
        (Full, Alone, 200),
        &["copy", "python"],
        &[Package("tiny-llm-bridge"), Path("cluster/")],
        cluster::cluster,
    ),
    step(
        "unmodified",
        "no file of the repository was modified",
        (Quick, One, 1),
        &[],
        &[Reads::All],
        tree::unmodified,
    ),
];

/// Returns the step with this name.
pub(super) fn named(id: &str) -> Option<&'static Step> {
    STEPS.iter().find(|step| step.id == id)
}
