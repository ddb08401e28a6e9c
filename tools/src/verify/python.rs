//! The PyTorch side: an environment inside the repository, fixtures, bridge, pytest, models,
//! figures.

use std::{fs, path::PathBuf, process::Command};

use anyhow::{Context, Result, anyhow, ensure};

use super::{
    context::{Outcome, Verification, succeeds},
    packages::make,
    rust::BRIDGE,
};
use crate::{
    environment::Venv,
    process::{forget_cargo, run_quietly},
};

/// Makes `.venv`, or takes the one that is there if it was made for the same packages.
pub(super) fn environment(v: &mut Verification) -> Result<Outcome> {
    let made = if v.options.no_python { Err("--no-python".to_owned()) } else { make(&v.root) };
    let outcome = match &made {
        Ok((_, note)) => Outcome::Passed(note.clone()),
        Err(reason) => Outcome::NotVerified(reason.clone()),
    };
    if let Outcome::NotVerified(reason) = &outcome {
        println!("not verified: {reason}");
    }
    v.python = made.map(|(python, _)| python);
    Ok(outcome)
}

impl Verification {
    /// Where only one step runs, the environment that is there will do.
    pub(super) fn take_python(&mut self) {
        let venv = Venv::of(&self.root).ok();
        let venv = venv.filter(|venv| venv.is_current() && !self.options.no_python);
        if let (Err(_), Some(venv)) = (&self.python, venv) {
            self.python = Ok(venv.python);
        }
    }

    /// Python in a folder of the pristine copy, with the bridge that was built there.
    pub(super) fn python(&self, folder: &str) -> std::result::Result<Command, Outcome> {
        let python = self.python.as_ref().map_err(|reason| Outcome::NotVerified(reason.clone()))?;
        let mut command = Command::new(python);
        command
            .current_dir(self.tree.join(folder))
            .env("PYTHONPATH", self.site())
            .env("PYTHONUTF8", "1");
        // Two threads of torch on two busy cores wait for one another.
        command
            .env("OMP_NUM_THREADS", "1")
            .env("CARGO_TARGET_DIR", self.root.join("target/verify/build"));
        // Neither progress bars in a log nor questions to the hub: every model is in the
        // repository.
        command.env("TQDM_DISABLE", "1").env("HF_HUB_OFFLINE", "1");
        forget_cargo(&mut command);
        Ok(command)
    }

    fn site(&self) -> PathBuf {
        self.root.join("target/verify/site")
    }

    /// Builds the bridge as a wheel, with these options of maturin, and unpacks it beside the
    /// environment, in place of the one that is there.
    pub(super) fn build_bridge(&self, options: &[&str]) -> Result<()> {
        let wheels = self.root.join("target/verify/wheels");
        for folder in [&wheels, &self.site()] {
            if folder.exists() {
                fs::remove_dir_all(folder)?;
            }
        }
        let python = || self.python("").map_err(|_| anyhow!("there is no Python"));
        let mut maturin = python()?;
        maturin.args(["-m", "maturin", "build", "--release", "--out"]).arg(&wheels).args(options);
        succeeds(&mut maturin)?;
        let wheel = fs::read_dir(&wheels)?
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|end| end == "whl"));
        let wheel = wheel.context("maturin built no wheel")?;
        let mut pip = python()?;
        let quiet = ["-m", "pip", "install", "--disable-pip-version-check", "--quiet"];
        pip.args(quiet).args(["--no-deps", "--target"]).arg(self.site()).arg(wheel);
        succeeds(&mut pip)?;
        Ok(())
    }
}

/// Computes every committed fixture anew.
pub(super) fn oracle(v: &mut Verification) -> Result<Outcome> {
    let mut command = match v.python("python-ref") {
        Ok(command) => command,
        Err(outcome) => return Ok(outcome),
    };
    succeeds(command.args(["-m", "oracle", "--check"]))?;
    Ok(Outcome::Passed(String::new()))
}

/// Builds the bridge, with all that pytest can ask of it, and runs pytest: red on the stubs, green on
/// the reference.
pub(super) fn bridge(v: &mut Verification) -> Result<Outcome> {
    if let Err(outcome) = v.python("") {
        return Ok(outcome);
    }
    let packages = BRIDGE.map(|name| format!("--package {name}")).join(" ");
    v.cargo_succeeds(&format!("clippy {packages} --all-targets -- -D warnings"))?;
    v.build_bridge(&["--features", "gpu"])?;

    let mut pytest = v.python("").expect("there was one above");
    // Quietly: in a log these tests would look like failures of the project.
    let stubs = run_quietly(pytest.args([
        "-m",
        "pytest",
        "--solution",
        "student",
        "-k",
        "week1_day1",
        "--tb=line",
    ]))?;
    ensure!(
        !stubs.status.success() && stubs.text.contains("NotImplementedYet"),
        "pytest on the stubs is not red by their own messages"
    );
    println!("pytest on the stubs is red, by their own messages");

    let mut pytest = v.python("").expect("there was one above");
    let finished = succeeds(pytest.args(["-m", "pytest", "--solution", "reference"]))?;
    let closing = finished
        .text
        .lines()
        .rev()
        .find(|line| line.contains(" passed"))
        .context("pytest ran no test")?
        .trim_matches(['=', ' ']);
    ensure!(!closing.contains("deselected"), "pytest left tests out: {closing}");
    if !closing.contains("skipped") {
        return Ok(Outcome::Passed(closing.to_owned()));
    }
    let reason =
        no_adapter(&finished.text).with_context(|| format!("pytest left tests out: {closing}"))?;
    Ok(Outcome::NotVerified(format!("week4-day5: {reason}; of the others: {closing}")))
}

/// Why pytest left tests out, if all of them are those of the one day that needs a graphics
/// processor, and there is none.
fn no_adapter(text: &str) -> Option<&str> {
    let mut skipped = text.lines().filter(|line| line.starts_with("SKIPPED ")).map(|line| {
        let (_, reason) = line.split_once("test_week4_day5.py:")?;
        let (_, reason) = reason.split_once(": ")?;
        reason.starts_with("no graphics processor: ").then_some(reason)
    });
    let reason = skipped.next()?;
    skipped.all(|other| other == reason).then_some(reason)?
}

/// The embedded models' scores on held-out stories, and the book's figures.
pub(super) fn models(v: &mut Verification) -> Result<Outcome> {
    for script in ["python-ref/train/evaluate.py", "book/figures/make.py"] {
        let mut command = match v.python("") {
            Ok(command) => command,
            Err(outcome) => return Ok(outcome),
        };
        succeeds(command.args([script, "--check"]))?;
    }
    Ok(Outcome::Passed(String::new()))
}

#[cfg(test)]
mod tests {
    use super::no_adapter;

    #[test]
    fn only_the_day_of_a_graphics_processor_may_be_left_out_and_only_for_want_of_one() {
        let line = |file: &str, reason: &str| format!("SKIPPED [24] {file}:31: {reason}\n");
        let (day, none) = ("python-ref/tests/test_week4_day5.py", "no graphics processor: none");
        let lacking = line(day, none);
        assert_eq!(no_adapter(&format!("a line\n{lacking}{lacking}")), Some(none));
        let without = line(day, "the bridge was built without graphics processors");
        let other = line("python-ref/tests/test_week4_day6.py", none);
        for text in ["", &without, &other, &(lacking.clone() + &other), &(lacking + &without)] {
            assert_eq!(no_adapter(text), None, "{text}");
        }
    }
}
