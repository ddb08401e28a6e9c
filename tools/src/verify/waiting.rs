//! Checks that learners' commands do not wait for builds that they don't need, and that moving from
//! day to day does not rebuild libraries.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    path::Path,
    process::Command,
    sync::mpsc::RecvTimeoutError,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use super::context::{Outcome, Verification};
use crate::process::{self, run_quietly, shown};

/// Timeout, longer than any of these commands takes on a busy machine without waiting for a build.
const PATIENCE: Duration = Duration::from_secs(600);

/// Commands that need no engine and no tests.
const COMMANDS: [&str; 5] = [
    "course",
    "course next",
    "course hint",
    "course borrow week1-day1 1",
    "course return week1-day1",
];

/// Locks the build folders of the engine and of the tests, as a running build would, and checks
/// that the runner's commands still finish. Then locks only the engine's folder, and checks that a
/// task's tests run.
pub(super) fn locks(v: &Verification) -> Result<Outcome> {
    let target = v.root.join("target/verify/build");
    // Build in advance, without a time limit.
    v.cargo_succeeds("course next")?;
    let test = "course test week1-day1 1";
    run_quietly(&mut v.cargo(test))?;
    let mut slowest = Duration::ZERO;
    let (engine, tests) = (held(&target.join("release"))?, held(&target.join("debug"))?);
    for command in COMMANDS {
        slowest = slowest.max(answered(&mut v.cargo(command))?);
    }
    drop(tests);
    answered(&mut v.cargo(test)).context("while the engine is built")?;
    drop(engine);
    let commands = COMMANDS.len();
    Ok(Outcome::Passed(format!(
        "{commands} commands and a task's tests ran during other builds, the slowest command in \
         {:.1} s",
        slowest.as_secs_f64()
    )))
}

/// Locks a build folder, as cargo does.
fn held(folder: &Path) -> Result<File> {
    fs::create_dir_all(folder)?;
    let path = folder.join(".cargo-lock");
    let file =
        File::create(&path).with_context(|| format!("{} cannot be created", path.display()))?;
    file.try_lock().with_context(|| format!("{} is held by another build", path.display()))?;
    Ok(file)
}

/// Packages that are built separately: the downloader and the bridge.
const BY_THEMSELVES: [&str; 2] = ["tiny-llm-fetch", "tiny-llm-bridge"];

/// Returns how long the command took. Its result does not matter, because tests fail on stubs.
fn answered(command: &mut Command) -> Result<Duration> {
    let start = Instant::now();
    let (mut child, lines) = process::start(command)?;
    loop {
        match lines.recv_timeout(PATIENCE.saturating_sub(start.elapsed())) {
            Ok(_) => {}
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                child.kill()?;
                child.wait()?;
                bail!("`{}` waits for a build that it does not need", shown(command));
            }
        }
    }
    child.wait()?;
    Ok(start.elapsed())
}

/// Checks that every library has the same features in every day, in the command line, in the
/// server, in the downloader and in the bridge, because otherwise it would be rebuilt. Days that no
/// week's feature includes may need more features, because rebuilding these libraries takes little
/// time compared with everything else that such a day builds.
pub(super) fn libraries(v: &Verification) -> Result<Outcome> {
    let together = v.curriculum.days().filter(|day| day.apart.is_none());
    let mut sets: Vec<String> = together.map(|day| day.feature.clone()).collect();
    sets.extend(v.curriculum.weeks.iter().map(|week| format!("week{}", week.number)));
    sets.push("cli".to_owned());
    sets.push("cli,reference".to_owned());
    sets.push("serve".to_owned());
    sets.extend(BY_THEMSELVES.map(str::to_owned));
    let mut asked: BTreeMap<String, BTreeMap<String, Vec<&str>>> = BTreeMap::new();
    for set in &sets {
        let mut tree = v.cargo("tree --prefix none --format {p}|{f}");
        if BY_THEMSELVES.contains(&set.as_str()) {
            tree.args(["--package", set, "--edges", "normal,build"]);
        } else {
            tree.args(["--package", "tiny-llm", "--edges", "normal,build,dev", "--features", set]);
        }
        let finished = run_quietly(&mut tree)?;
        ensure!(finished.status.success(), "{}", finished.tail(5));
        for library in libraries_of(&finished.output) {
            let features = asked.entry(library.0).or_default();
            features.entry(library.1).or_default().push(set);
        }
    }
    let several = |(library, features): (&String, &BTreeMap<String, Vec<&str>>)| {
        let sets = |(features, sets): (&String, &Vec<&str>)| format!("{features} ({})", sets[0]);
        (features.len() > 1).then(|| {
            let each: Vec<String> = features.iter().map(sets).collect();
            format!("{library} is built with {}", each.join(" and with "))
        })
    };
    let problems: Vec<String> = asked.iter().filter_map(several).collect();
    ensure!(
        problems.is_empty(),
        "{} libraries are built more than once (formats/Cargo.toml says how to avoid that)\n{}",
        problems.len(),
        problems.join("\n")
    );
    Ok(Outcome::Passed(format!("{} libraries, {} sets of features", asked.len(), sets.len())))
}

/// Parses the output of `cargo tree`. Returns the libraries from outside this repository, with
/// their features.
fn libraries_of(tree: &str) -> BTreeSet<(String, String)> {
    let of_line = |line: &str| {
        let (package, features) = line.trim_end_matches(" (*)").split_once('|')?;
        // A line is `name v1.0.0 (proc-macro)`. For a package of the repository, the brackets
        // contain its folder.
        let own = package.contains("(/") || package.contains(":\\");
        (!own).then(|| (package.to_owned(), features.trim_end_matches(" (*)").to_owned()))
    };
    tree.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_omits_our_own_crates() {
        let tree = "tiny-llm v0.1.0 (/some/where)|week1\nhalf v2.7.1|std (*)\nhalf v2.7.1|std\n\
                    syn v2.0.0|full\nserde_derive v1.0.0 (proc-macro)|\n";
        let found = libraries_of(tree);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found.contains(&("half v2.7.1".to_owned(), "std".to_owned())));
    }
}
