//! Small changes to the taught code, each of which some day's test must notice: cargo-mutants, over
//! the reference.
//!
//! `.cargo/mutants.toml` says which files, and lists with its reason every change that makes no
//! difference.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result};
use serde_json::Value;

use super::{
    context::{Outcome, Verification, succeeds},
    tree::write_if_changed,
};
use crate::process::run_aloud;

/// Pinned, since another version makes other changes.
const VERSION: &str = "27.1.0";

/// Installs the tool below `target/`, runs it on the pristine copy, and counts.
pub(super) fn mutants(v: &mut Verification) -> Result<Outcome> {
    if !v.options.full {
        return Ok(Outcome::NotVerified(
            "takes the better part of an hour: `cargo course verify --full`".to_owned(),
        ));
    }
    let tools = v.root.join("target/verify/tools");
    let mut install = v.cargo("install cargo-mutants --locked --quiet --version");
    install.arg(VERSION).arg("--root").arg(&tools);
    succeeds(&mut install)?;

    one_program(v)?;
    let out = v.root.join("target/verify/mutants");
    let mut command = Command::new(tools.join("bin/cargo-mutants"));
    command.args(["mutants", "--package", "tiny-llm-reference", "--no-times", "--colors", "never"]);
    // The unchanged code is not tried first: the tool would do so in the mutated package, which has
    // no tests, and the step before it has.
    command.args(["--baseline", "skip", "--timeout", "120", "--output"]).arg(&out);
    command.current_dir(&v.tree);
    // Line numbers are of no use here, and linking is most of what a mutant costs.
    command.env("CARGO_PROFILE_DEV_DEBUG", "false");
    // Exits with 2 where a change went unnoticed: that is counted below.
    run_aloud(&mut command)?;
    judge(&out.join("mutants.out"))
}

/// Puts the tests of all days into one program, `every_day`, which `.cargo/mutants.toml` asks for:
/// a mutant then costs one link, not seven.
fn one_program(v: &Verification) -> Result<()> {
    let mut program = String::from("//! All days.\n");
    for day in v.curriculum.days() {
        let module = day.module();
        program += &format!("#[path = \"{module}.rs\"]\nmod {module};\n");
    }
    write_if_changed(&v.tree.join("tests/every_day.rs"), program.as_bytes())?;
    let path = v.tree.join("Cargo.toml");
    let manifest = fs::read_to_string(&path)?;
    let target = "\n[[test]]\nname = \"every_day\"\npath = \"tests/every_day.rs\"\n";
    if !manifest.contains(target) {
        fs::write(&path, manifest + target)?;
    }
    Ok(())
}

fn judge(folder: &Path) -> Result<Outcome> {
    let path = folder.join("outcomes.json");
    let text = fs::read_to_string(&path)
        .with_context(|| format!("cargo-mutants wrote no {}", path.display()))?;
    let outcomes: Value =
        serde_json::from_str(&text).with_context(|| format!("{} is malformed", path.display()))?;
    let count = |name: &str| {
        outcomes[name].as_u64().with_context(|| format!("{} has no {name}", path.display()))
    };
    let (caught, timeout, missed, unviable) =
        (count("caught")?, count("timeout")?, count("missed")?, count("unviable")?);
    let viable = caught + timeout + missed;
    let note = format!(
        "{} of {viable} viable mutants caught ({timeout} by never ending); {unviable} do not compile",
        caught + timeout
    );
    println!("{note}");
    Ok(match (missed, viable) {
        (_, 0) => Outcome::Failed("no mutant was tried".to_owned()),
        (0, _) => Outcome::Passed(note),
        _ => Outcome::Failed(format!(
            "{note}\n{}",
            fs::read_to_string(folder.join("missed.txt")).unwrap_or_default()
        )),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(outcomes: &str) -> Result<Outcome> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("outcomes.json"), outcomes).unwrap();
        judge(folder.path())
    }

    #[test]
    fn a_missed_mutant_fails() {
        let passed = judged(r#"{"caught": 5, "timeout": 1, "missed": 0, "unviable": 2}"#).unwrap();
        assert!(
            matches!(passed, Outcome::Passed(note) if note == "6 of 6 viable mutants caught (1 by never ending); 2 do not compile")
        );
        assert!(matches!(
            judged(r#"{"caught": 5, "timeout": 0, "missed": 1, "unviable": 0}"#).unwrap(),
            Outcome::Failed(_)
        ));
        assert!(matches!(
            judged(r#"{"caught": 0, "timeout": 0, "missed": 0, "unviable": 4}"#).unwrap(),
            Outcome::Failed(_)
        ));
        assert!(judged("{}").is_err());
    }
}
