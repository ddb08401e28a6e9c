//! Fuzzing: no input makes a reader panic or violates the properties that its target in `fuzz/`
//! checks.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, bail};

use super::context::{Outcome, Verification, succeeds};
use crate::process::{forget_cargo, run_aloud};

/// Pinned version of cargo-fuzz. Every tool that a step installs has a pinned version.
const VERSION: &str = "0.13.2";

/// Duration for each target, in seconds.
const SECONDS: u64 = 600;

/// Targets that don't reach any unsafe code of this repository. AddressSanitizer would find nothing
/// there, and would take most of the time.
const SAFE: [&str; 2] = ["request", "schema"];

/// Installs cargo-fuzz in `target/`, and runs every target. Reports the number of executions.
pub(super) fn fuzz(v: &Verification) -> Result<Outcome> {
    if cfg!(not(unix)) {
        return Ok(Outcome::NotVerified("cargo-fuzz runs only on Linux and macOS".to_owned()));
    }
    let tools = v.root.join("target/verify/tools");
    // cargo-fuzz only starts cargo and the target, so it need not be optimised.
    let mut install = v.cargo("install cargo-fuzz --debug --locked --quiet --version");
    succeeds(install.arg(VERSION).arg("--root").arg(&tools))?;

    let mut notes = Vec::new();
    for name in targets(&v.tree)? {
        // Inputs that this run finds are kept for the next run. The committed corpus is only read.
        let work = v.root.join("target/verify/fuzz");
        let (grown, found, committed) = (
            work.join("corpus").join(&name),
            work.join("found").join(&name),
            v.tree.join("fuzz/corpus").join(&name),
        );
        for folder in [&grown, &found] {
            fs::create_dir_all(folder)
                .with_context(|| format!("{} cannot be created", folder.display()))?;
        }
        let mut run = Command::new(tools.join("bin/cargo-fuzz"));
        forget_cargo(&mut run);
        // The stable compiler supports what the fuzzer needs, but accepts the options only with
        // this variable.
        run.current_dir(&v.tree).env("RUSTC_BOOTSTRAP", "1");
        run.args(["fuzz", "run", "--no-default-features", "--features", &name]);
        if SAFE.contains(&name.as_str()) {
            run.args(["--sanitizer", "none"]);
        }
        let words = v.tree.join("fuzz/dictionaries").join(format!("{name}.dict"));
        if words.is_file() {
            // Don't trace the target's comparisons, which would take half of the time.
            run.arg("--no-trace-compares");
        }
        run.arg("--target-dir").arg(&work).arg(&name).arg(&grown);
        if committed.is_dir() {
            run.arg(&committed);
        }
        run.args(["--", "-max_len=8192", "-malloc_limit_mb=64", "-print_final_stats=1"]);
        if words.is_file() {
            run.arg(format!("-dict={}", words.display()));
        }
        run.arg(format!("-max_total_time={SECONDS}"))
            .arg(format!("-artifact_prefix={}/", found.display()));
        let finished = run_aloud(&mut run)?;
        if !finished.status.success() {
            bail!(
                "{name}: failed; if it wrote an input into {}, fix the reader and add the input to \
                 fuzz/corpus/{name}",
                found.display()
            );
        }
        notes.push(format!(
            "{name}: {} executions",
            executions(&finished.text).with_context(|| format!("{name}: nothing was executed"))?
        ));
    }
    Ok(Outcome::Passed(notes.join("; ")))
}

/// Returns the names of the targets.
fn targets(tree: &Path) -> Result<Vec<String>> {
    let path = tree.join("fuzz/Cargo.toml");
    let manifest: toml::Table = fs::read_to_string(&path)
        .with_context(|| format!("{} cannot be read", path.display()))?
        .parse()?;
    let targets = manifest.get("bin").and_then(toml::Value::as_array).into_iter().flatten();
    let names: Vec<String> =
        targets.filter_map(|target| Some(target.get("name")?.as_str()?.to_owned())).collect();
    if names.is_empty() {
        bail!("{} has no target", path.display());
    }
    Ok(names)
}

/// Returns the number of executions in libFuzzer's final statistics.
fn executions(text: &str) -> Option<u64> {
    let count =
        text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))?;
    count.trim().parse().ok().filter(|&count| count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_executions_are_none() {
        assert_eq!(
            executions(
                "Done 12 runs in 601 second(s)\n\
                 stat::number_of_executed_units: 482427\n\
                 stat::new_units_added: 3\n"
            ),
            Some(482_427)
        );
        assert_eq!(executions("stat::number_of_executed_units: 0\n"), None);
        assert_eq!(executions("Done 12 runs in 601 second(s)\n"), None);
    }

    #[test]
    fn finds_every_target_of_the_repository() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut names = targets(&root).unwrap();
        names.sort();
        let mut files: Vec<String> = fs::read_dir(root.join("fuzz/fuzz_targets"))
            .unwrap()
            .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        files.sort();
        assert_eq!(names, files);
    }
}
