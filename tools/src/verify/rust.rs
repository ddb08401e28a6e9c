//! The Rust side: generated stubs, formatting, lints and tests.

use std::{path::Path, process::Command};

use anyhow::{Context, Result, ensure};

use super::context::{Outcome, Verification, succeeds};
use crate::{
    consistency,
    curriculum::TaskId,
    files::write_if_changed,
    libtest::Report,
    process::run_quietly,
    processor::PROCESSORS,
    stubs::{self, generated},
};

/// The PyO3 crate and its engines. They are checked only if there is a Python.
pub(super) const BRIDGE: [&str; 3] =
    ["tiny-llm-bridge", "tiny-llm-engine-reference", "tiny-llm-engine-student"];

/// Targets of other processors, and cargo's arguments for their code. Clippy would not check it
/// otherwise.
const ELSEWHERE: [(&str, &str); 2] = [
    (
        "aarch64-unknown-linux-gnu",
        "--package tiny-llm-kernels --package tiny-llm-reference --features \
         tiny-llm-reference/engine",
    ),
    ("wasm32-unknown-unknown", "--package tiny-llm-kernels --package tiny-llm-web"),
];

/// Returns `--workspace` without the bridge's crates.
fn all_but_the_bridge() -> String {
    format!("--workspace {}", BRIDGE.map(|name| format!("--exclude {name}")).join(" "))
}

/// Runs `cargo course stubs --check` on the repository itself.
pub(super) fn stubs(v: &Verification) -> Result<Outcome> {
    let stubs::Checked { equal, yours } = stubs::check(&v.root, &v.curriculum)?;
    let note = if yours == 0 {
        format!("{equal} files")
    } else {
        format!("{equal} files are as generated; {yours} contain your work and were not compared")
    };
    println!("{note}");
    Ok(Outcome::Passed(note))
}

/// Checks everything that repeats the curriculum.
pub(super) fn curriculum(v: &Verification) -> Result<Outcome> {
    let problems = consistency::problems(&v.root, &v.curriculum)?;
    ensure!(problems.is_empty(), "disagreements: {}\n{}", problems.len(), problems.join("\n"));
    Ok(Outcome::Passed(format!(
        "{} days, {} tasks",
        v.curriculum.days().count(),
        v.curriculum.tasks().count()
    )))
}

/// Runs rustfmt.
pub(super) fn formatting(v: &Verification) -> Result<Outcome> {
    v.cargo_succeeds("fmt --all --check")?;
    Ok(Outcome::Passed(String::new()))
}

/// Runs Clippy, with warnings as errors, on all crates. The learner's crate is checked with its
/// stubs and with the reference.
pub(super) fn clippy(v: &Verification) -> Result<Outcome> {
    let features = v.curriculum.features().into_iter();
    let weeks: Vec<String> = features.map(|feature| format!("tiny-llm/{feature}")).collect();
    let weeks = weeks.join(",");
    // Both runs select the whole workspace: with fewer crates, cargo would give libraries other
    // features, and check them again. The reference's own tests need the second run's features.
    let all = format!("clippy {} --all-targets", all_but_the_bridge());
    let features = format!("{weeks},tiny-llm/serve,tiny-llm-formats/text");
    v.cargo_succeeds(&format!(
        "{all} --exclude tiny-llm-reference --features {features} -- -D warnings"
    ))?;
    v.cargo_succeeds(&format!(
        "{all} --features {features},tiny-llm/reference,tiny-llm/fresh -- -D warnings"
    ))?;
    let (mut read, mut missing) = (Vec::new(), Vec::new());
    for (target, crates) in ELSEWHERE {
        if has_library(target) {
            // In a browser, dropping a file has no effect.
            let lints = "-D warnings -A clippy::drop_non_drop";
            v.cargo_succeeds(&format!("clippy --target {target} {crates} -- {lints}"))?;
            read.push(target);
        } else {
            missing.push(target);
        }
    }
    let mut note = format!("also for {}", read.join(" and "));
    if read.is_empty() {
        note = "only this processor's code".to_owned();
    }
    if !missing.is_empty() {
        note +=
            &format!("; not checked, because Rust's library is missing: {}", missing.join(", "));
    }
    println!("{note}");
    Ok(Outcome::Passed(note))
}

/// Returns whether the compiler has Rust's library for this target.
fn has_library(target: &str) -> bool {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", target]);
    run_quietly(&mut rustc).is_ok_and(|finished| Path::new(finished.output.trim()).is_dir())
}

/// Runs `cargo doc`, with warnings as errors, mainly to find broken links.
pub(super) fn documentation(v: &Verification) -> Result<Outcome> {
    let all = v.curriculum.features().join(",");
    let features = format!("{all},serve,tiny-llm-reference/gpu,tiny-llm-reference/text");
    let mut doc = v.cargo(&format!("doc --no-deps {}", all_but_the_bridge()));
    doc.args(["--features", &features]);
    succeeds(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::Passed(String::new()))
}

/// Tests the crates other than the learner's.
pub(super) fn unit_tests(v: &Verification) -> Result<Outcome> {
    let packages = ["formats", "kernels", "schema", "harness", "cli", "server", "reference"];
    let packages = packages.map(|name| format!("--package tiny-llm-{name}")).join(" ");
    let debug = v.cargo_succeeds(&format!(
        "test --no-fail-fast {packages} --features tiny-llm-reference/text,tiny-llm-formats/text"
    ))?;
    // Use the same features as the step `gpu`, because wgpu takes minutes to build.
    let gpu = v.cargo_succeeds(
        "test --no-fail-fast --package tiny-llm-gpu --package tiny-llm-reference --features \
         tiny-llm-reference/gpu --lib --test device --test gpu_faults",
    )?;
    // Use the runner's profile, because its libraries have already been built with it.
    let runner = v.cargo_succeeds(
        "test --no-fail-fast --profile course --package course --package course-tools",
    )?;
    // mdBook is slow to compile, and the book builder is built in release mode anyway.
    let release = v.cargo_succeeds("test --no-fail-fast --release --package book-builder")?;
    Ok(Outcome::Passed(count(&(debug.text + &gpu.text + &runner.text + &release.text))?))
}

/// Checks that `cargo test` without a day passes, and says how to start.
pub(super) fn test_alone(v: &Verification) -> Result<Outcome> {
    let finished = v.cargo_succeeds("test")?;
    for expected in ["cargo course start", "cargo test --features week1-day1"] {
        ensure!(finished.text.contains(expected), "`cargo test` alone does not name `{expected}`");
    }
    Ok(Outcome::Passed(String::new()))
}

/// Checks that each day's tests compile with only the day's own feature, on stubs and on the
/// reference. This detects a day that needs another day's feature. There must be no warnings.
pub(super) fn days(v: &Verification) -> Result<Outcome> {
    let days: Vec<_> = v.curriculum.days().filter(|day| day.apart.is_none()).collect();
    for day in &days {
        let (module, feature) = (day.module(), &day.feature);
        for features in [feature.clone(), format!("{feature},reference")] {
            let check = format!("check --quiet --test {module} --features {features}");
            without_warning(v, &check).with_context(|| features)?;
        }
    }
    Ok(Outcome::Passed(format!("{} days", days.len())))
}

/// Checks that the learner's crate compiles at each stage of the course, without a warning. This
/// changes files of the pristine copy, and restores them.
pub(super) fn stages(v: &Verification) -> Result<Outcome> {
    let files = generated(&v.root, &v.curriculum)?;
    let ids: Vec<TaskId> = v.curriculum.tasks().map(|(id, _)| id).collect();
    // The largest size checks every stage. The other sizes check the first stage of each day and
    // the very last stage.
    let begins = |&solved: &usize| {
        v.options.full
            || solved.checked_sub(1).and_then(|last| ids.get(last)).map(|id| &id.feature)
                != ids.get(solved).map(|id| &id.feature)
    };
    let chosen: Vec<usize> = (0..=ids.len()).filter(begins).collect();
    let stages = chosen.iter().try_for_each(|&solved| {
        for file in &files {
            let text = file.template.render(|id| ids[..solved].contains(id));
            write_if_changed(&v.tree.join(&file.path), text.as_bytes())?;
        }
        let feature = &ids[solved.saturating_sub(1)].feature;
        if v.curriculum.day(feature)?.apart.is_some() {
            return Ok(());
        }
        without_warning(v, &format!("check --quiet --lib --features {feature}"))
            .with_context(|| format!("with {solved} tasks solved"))
    });
    for file in &files {
        write_if_changed(&v.tree.join(&file.path), file.stub.as_bytes())?;
    }
    stages?;
    Ok(Outcome::Passed(format!("{} stages", chosen.len())))
}

fn without_warning(v: &Verification, check: &str) -> Result<()> {
    // Use incremental builds, because most of each check repeats the previous one.
    let checked = run_quietly(v.cargo(check).env("CARGO_INCREMENTAL", "1"))?;
    let clean = checked.status.success() && !checked.text.contains("warning: ");
    ensure!(clean, "the compiler says:\n{}", checked.tail(40));
    Ok(())
}

/// Returns how many tests passed. If there are no tests, or a test is ignored, returns an error,
/// because that would count as passed although nothing ran. Only tests for another processor may be
/// ignored. They are counted separately.
pub(super) fn count(text: &str) -> Result<String> {
    let report = Report::parse(text);
    let numbers = |word: &str| -> usize {
        let of_line = |line: &String| {
            line.split(['.', ';'])
                .find_map(|part| part.trim().strip_suffix(word)?.trim().parse::<usize>().ok())
        };
        report.closing.iter().filter_map(of_line).sum::<usize>()
    };
    let (passed, ignored) = (numbers("passed"), numbers("ignored"));
    ensure!(passed > 0, "no test ran");
    let elsewhere = |line: &&str| {
        let reason = line.rsplit_once(" ... ignored, for ").map(|(_, name)| name.trim_end());
        PROCESSORS.iter().any(|processor| reason == Some(processor.name) && !processor.is_here())
    };
    let elsewhere = text.lines().filter(elsewhere).count();
    ensure!(ignored == elsewhere, "ignored tests: {}, expected none", ignored - elsewhere);
    let rest = match elsewhere {
        0 => String::new(),
        n => format!(", {n} skipped (for another processor)"),
    };
    Ok(format!("{passed} tests{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_rejects_ignored_tests() {
        let line = |ignored| {
            format!(
                "test result: ok. 12 passed; 0 failed; {ignored} ignored; 0 measured; 0 filtered \
                 out; finished in 0.1s\n"
            )
        };
        assert_eq!(count(&(line(0) + &line(0))).unwrap(), "24 tests");
        assert!(count(&line(1)).is_err());
        let [here, there] = [true, false].map(|here| {
            let processor = PROCESSORS.iter().find(|processor| processor.is_here() == here);
            processor.map_or("nothing", |processor| processor.name)
        });
        let ignored = |name: &str| format!("test a ... ignored, for {name}\n{}", line(1));
        let found = count(&ignored(there)).unwrap();
        assert_eq!(found, "12 tests, 1 skipped (for another processor)");
        assert!(count(&ignored(here)).is_err() && count(&ignored("nobody")).is_err());
        assert!(count("").is_err());
    }
}
