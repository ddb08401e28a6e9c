//! The PyTorch side: an environment in the repository, fixtures, the bridge, pytest, models and
//! figures.

use std::{
    collections::BTreeSet,
    fs,
    panic::resume_unwind,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use anyhow::{Context, Result, ensure};

use super::{
    context::{Outcome, Verification, succeeds},
    packages::make,
    proofs,
    rust::BRIDGE,
};
use crate::{
    files::list,
    process::{forget_cargo, run_quietly},
    proof::STACK,
};

/// Creates `.venv`, or uses an existing one for the same packages.
pub(super) fn environment(v: &Verification) -> Result<Outcome> {
    let made = if v.options.no_python { Err("--no-python".to_owned()) } else { make(&v.root) };
    Ok(match made {
        Ok((_, note)) => Outcome::Passed(note),
        Err(reason) => Outcome::NotVerified(reason),
    })
}

impl Verification {
    /// Returns a Python command in the pristine copy, with the bridge that was built for
    /// verification.
    ///
    /// # Errors
    /// If there is no Python: [`super::context::NotVerified`].
    pub(super) fn python(&self) -> Result<Command> {
        self.python_in(&self.tree)
    }

    /// Like [`Verification::python`], in any folder.
    fn python_in(&self, folder: &Path) -> Result<Command> {
        let mut command = Command::new(self.interpreter()?);
        command.current_dir(folder).env("PYTHONPATH", self.site()).env("PYTHONUTF8", "1");
        command.env(STACK.0, STACK.1);
        // On two busy cores, two threads of PyTorch would wait for each other.
        command
            .env("OMP_NUM_THREADS", "1")
            .env("CARGO_TARGET_DIR", self.root.join("target/verify/build"));
        // Disables progress bars and requests to the hub: every model is in the repository.
        command.env("TQDM_DISABLE", "1").env("HF_HUB_OFFLINE", "1");
        forget_cargo(&mut command);
        Ok(command)
    }

    fn site(&self) -> PathBuf {
        self.root.join("target/verify/site")
    }

    /// Builds the bridge as a wheel with these options of maturin, and unpacks it next to the
    /// environment, replacing an earlier one.
    pub(super) fn build_bridge(&self, options: &[&str]) -> Result<()> {
        let wheels = self.root.join("target/verify/wheels");
        for folder in [&wheels, &self.site()] {
            if folder.exists() {
                fs::remove_dir_all(folder)?;
            }
        }
        let mut maturin = self.python()?;
        maturin.args(["-m", "maturin", "build", "--out"]).arg(&wheels).args(options);
        succeeds(&mut maturin)?;
        let wheel = fs::read_dir(&wheels)?
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|end| end == "whl"));
        let wheel = wheel.context("maturin built no wheel")?;
        let mut pip = self.python()?;
        let quiet = ["-m", "pip", "install", "--disable-pip-version-check", "--quiet"];
        pip.args(quiet).args(["--no-deps", "--target"]).arg(self.site()).arg(wheel);
        succeeds(&mut pip)?;
        Ok(())
    }
}

/// Computes every fixture again, and compares it with the committed one.
pub(super) fn oracle(v: &Verification) -> Result<Outcome> {
    let mut command = v.python_in(&v.root.join("python-ref"))?;
    succeeds(command.args(["-m", "oracle", "--check"]))?;
    Ok(Outcome::Passed(String::new()))
}

/// Runs pytest through the bridge from the step `build`: the tests must pass on the reference, and
/// the first day's must fail on the stubs.
pub(super) fn bridge(v: &Verification) -> Result<Outcome> {
    v.interpreter()?;
    let package = v.site().join("tiny_llm");
    if package.exists() {
        fs::remove_dir_all(&package)?;
    }
    let source = v.proof.join("python-ref/bridge/python");
    let mut files = BTreeSet::new();
    list(&source, Path::new(""), &mut files)?;
    for file in files {
        let copy = v.site().join(&file);
        fs::create_dir_all(copy.parent().context("the path has no parent folder")?)?;
        fs::copy(source.join(&file), copy)?;
    }
    let name = if cfg!(windows) { "_bridge.pyd" } else { "_bridge.abi3.so" };
    let library = proofs::bridge_library(v);
    fs::copy(&library, package.join(name))
        .with_context(|| format!("{} cannot be copied", library.display()))?;
    let Some(tasks) = v.tasks() else { return pytest(v, &v.proof, &[], false) };
    // Without the other files, pytest need not import transformers.
    let days: BTreeSet<&str> =
        tasks.iter().filter_map(|task| Some(task.split_once(' ')?.0)).collect();
    let files = days.iter().map(|day| format!("{TESTS}/test_{}.py", day.replace('-', "_")));
    let files: Vec<String> = files.filter(|file| v.proof.join(file).exists()).collect();
    if files.is_empty() {
        return Ok(Outcome::Passed("these days have no tests in Python".to_owned()));
    }
    pytest(v, &v.proof, &files, false)
}

/// Builds the bridge as a release wheel with GPU kernels, as users do. Runs Clippy on the bridge's
/// crates, and every test on the wheel.
pub(super) fn wheel(v: &Verification) -> Result<Outcome> {
    v.interpreter()?;
    let packages = BRIDGE.map(|name| format!("--package {name}")).join(" ");
    v.cargo_succeeds(&format!("clippy {packages} --all-targets -- -D warnings"))?;
    v.build_bridge(&["--release", "--features", "gpu"])?;
    pytest(v, &v.tree, &[], true)
}

/// The folder with the tests, in a copy.
const TESTS: &str = "python-ref/tests";

/// Runs pytest on the reference in the copy `tree`, on `files`, or on all tests if there are none.
/// Checks that the first day's tests fail on the stubs. If `thorough`, includes slow tests.
fn pytest(v: &Verification, tree: &Path, files: &[String], thorough: bool) -> Result<Outcome> {
    let (mut stubs, mut pytest) = (v.python_in(tree)?, v.python_in(tree)?);
    stubs.args(["-m", "pytest", "--solution", "student", "--tb=line"]);
    stubs.arg(format!("{TESTS}/test_week1_day1.py"));
    pytest.args(["-m", "pytest", "--solution", "reference"]).args(files);
    if thorough {
        pytest.arg("--thorough");
    }
    // Run both at the same time, because the run on the stubs mostly loads PyTorch.
    let (stubs, finished) = thread::scope(|scope| {
        let stubs = scope.spawn(|| run_quietly(&mut stubs));
        let finished = succeeds(&mut pytest);
        (stubs.join(), finished)
    });
    let stubs = stubs.unwrap_or_else(|panic| resume_unwind(panic))?;
    // Print nothing, because in a log these tests would look like failures of the project.
    ensure!(
        !stubs.status.success() && stubs.text.contains("NotImplementedYet"),
        "pytest on the stubs does not fail with the tasks' own messages:\n{}",
        stubs.tail(20)
    );
    println!("pytest on the stubs fails with the tasks' own messages");
    let finished = finished?;
    let ran = |line: &&str| line.contains(" passed") || line.contains(" skipped");
    let closing = finished.text.lines().rev().find(ran);
    let closing = closing.context("pytest ran no test")?.trim_matches(['=', ' ']);
    ensure!(!closing.contains("deselected"), "pytest deselected tests: {closing}");
    if !closing.contains("skipped") {
        return Ok(Outcome::Passed(closing.to_owned()));
    }
    let lack = if thorough { NO_ADAPTER } else { WITHOUT_GPU };
    let reason = no_adapter(&finished.text, lack)
        .with_context(|| format!("pytest skipped tests: {closing}"))?;
    Ok(Outcome::Passed(format!("{closing}; week4-day5 not verified: {reason}")))
}

/// How pytest's reason to skip a test begins if there is no graphics adapter. The next constant is
/// the reason with a bridge without wgpu, as the step `build` builds it.
const NO_ADAPTER: &str = "no GPU: ";
const WITHOUT_GPU: &str = "the bridge was built without graphics processors";

/// Returns why pytest skipped tests, if all of them belong to the one day that needs a graphics
/// processor, and the reason begins with `lack`.
fn no_adapter<'a>(text: &'a str, lack: &str) -> Option<&'a str> {
    let mut skipped = text.lines().filter(|line| line.starts_with("SKIPPED ")).map(|line| {
        let (_, reason) = line.split_once("test_week4_day5.py:")?;
        let (_, reason) = reason.split_once(": ")?;
        reason.starts_with(lack).then_some(reason)
    });
    let reason = skipped.next()?;
    skipped.all(|other| other == reason).then_some(reason)?
}

/// Computes the embedded models' scores on held-out stories and the book's figures again, and
/// compares them with the committed ones.
pub(super) fn models(v: &Verification) -> Result<Outcome> {
    for script in ["python-ref/train/evaluate.py", "book/figures/make.py"] {
        succeeds(v.python()?.args([script, "--check"]))?;
    }
    Ok(Outcome::Passed(String::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allows_skips_only_of_week4_day5_without_an_adapter() {
        let line = |file: &str, reason: &str| format!("SKIPPED [24] {file}:31: {reason}\n");
        let (day, none) = ("python-ref/tests/test_week4_day5.py", "no GPU: none");
        let lacking = line(day, none);
        assert_eq!(no_adapter(&format!("a line\n{lacking}{lacking}"), NO_ADAPTER), Some(none));
        let without = line(day, WITHOUT_GPU);
        assert_eq!(no_adapter(&without, WITHOUT_GPU), Some(WITHOUT_GPU));
        let other = line("python-ref/tests/test_week4_day6.py", none);
        for text in ["", &without, &other, &(lacking.clone() + &other), &(lacking + &without)] {
            assert_eq!(no_adapter(text, NO_ADAPTER), None, "{text}");
        }
    }
}
