//! `cargo course verify`: checks the promises of this repository, in three sizes.
//!
//! Everything runs in copies in `target/verify`, with newly generated stubs: a learner's work is
//! neither used nor touched. A step passes, fails, or is *not verified*, with a reason. A check
//! that could not run never counts as passed, and a missing program never counts as a failure.
//! Durations are reported but not asserted. If this machine misses a promise about time by more
//! than machines usually differ, the promise is shown as *missed*, which is not a failure.

use std::{fs, path::Path, process::ExitCode, time::Instant};

use anyhow::{Result, bail, ensure};

pub(crate) use self::context::Options;
use self::{
    context::{INSIDE, Outcome, Size, Verification},
    state::State,
    step::{STEPS, Step},
};
use crate::{curriculum::Curriculum, environment::free_kib};

mod arm;
mod bare;
mod book;
mod browser;
mod changed;
mod chip;
mod cluster;
mod context;
mod cpu;
mod elsewhere;
mod engine;
mod fetch;
mod fuzz;
mod gpu;
mod grade;
mod latency;
mod memory;
mod mutants;
mod packages;
mod planted;
mod promise;
mod proofs;
mod python;
mod real;
mod replay;
mod report;
mod run;
mod rust;
mod server;
mod state;
mod step;
mod targets;
mod threads;
mod tree;
mod waiting;
mod words;

/// Runs the steps and prints the table. The exit code is 1 if a step failed.
///
/// # Errors
/// If the options select no step, the disk is too full, another verification runs, or the user
/// interrupts this one.
pub(crate) fn verify(root: &Path, curriculum: Curriculum, options: Options) -> Result<ExitCode> {
    let mut v = Verification::new(root, curriculum, options);
    if let Some(id) = v.options.step.clone() {
        run::one(&v, &id)?;
        return Ok(ExitCode::SUCCESS);
    }
    let inside = std::env::var_os(INSIDE).is_some();
    let _lock = if inside { None } else { Some(state::lock(root)?) };
    let start = Instant::now();
    tree::remember(root)?;
    let mut state = State::load(root)?;
    let Plan { steps, left_out } = plan(&mut v)?;
    // Continuous integration runs `bare` first, so that the other steps can use what it built.
    let follows =
        |step: &&Step| step.id == "matrix" || (step.id == "bare" && v.options.size() > Size::Quick);
    v.options.whole |= steps.iter().any(follows);
    if v.options.only.is_none() && v.options.changed.is_none() {
        room(&v)?;
    }
    if !v.options.resume {
        state.forget();
    }
    let rows = run::all(&v, &steps, &mut state)?;
    if v.options.json {
        println!("{}", report::json(&rows, &left_out, start.elapsed()));
    } else {
        for (id, reason) in &left_out {
            println!("left out     {id:<13}{reason}");
        }
        println!("{}", report::table(&rows, start.elapsed()));
    }
    let failed = rows.iter().any(|row| matches!(row.outcome, Outcome::Failed(_)));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The steps to run.
struct Plan {
    steps: Vec<&'static Step>,
    /// Steps of this size that `--changed` skips, and why.
    left_out: Vec<(String, String)>,
}

fn plan(v: &mut Verification) -> Result<Plan> {
    let size = v.options.size();
    let of_size = STEPS.iter().filter(|step| step.size <= size);
    if let Some(word) = &v.options.only {
        let exact = step::named(word).is_some();
        let wanted = |step: &&Step| {
            if exact {
                step.id == word
            } else {
                step.id.contains(word) || step.shows.contains(word)
            }
        };
        let named: Vec<&Step> = STEPS.iter().filter(wanted).collect();
        let all: Vec<&str> = STEPS.iter().map(|step| step.id).collect();
        ensure!(!named.is_empty(), "there is no step {word:?}; the steps are {}", all.join(", "));
        return Ok(Plan { steps: with_needs(named), left_out: Vec::new() });
    }
    if let Some(revision) = v.options.changed.clone() {
        let changes = changed::Changes::since(&v.root, &v.curriculum, &revision)?;
        v.options.tasks = changes.tasks();
        let (mut steps, mut left_out) = (Vec::new(), Vec::new());
        for step in of_size {
            match changes.concern(step)? {
                Ok(()) => steps.push(step),
                Err(reason) => left_out.push((step.id.to_owned(), reason)),
            }
        }
        let steps = with_needs(steps);
        left_out.retain(|(id, _)| !steps.iter().any(|step| step.id == id));
        return Ok(Plan { steps, left_out });
    }
    let mut steps: Vec<&Step> = of_size.collect();
    // `bare` itself runs the steps of the smallest size, so it comes before them.
    steps.sort_by_key(|step| step.id != "bare");
    Ok(Plan { steps, left_out: Vec::new() })
}

/// Returns the steps and their dependencies, in the order of [`STEPS`].
fn with_needs(steps: Vec<&'static Step>) -> Vec<&'static Step> {
    let mut all = steps;
    let mut at = 0;
    while at < all.len() {
        for needed in all[at].after.iter().filter_map(|id| step::named(id)) {
            if !all.iter().any(|step| step.id == needed.id) {
                all.push(needed);
            }
        }
        at += 1;
    }
    STEPS.iter().filter(|step| all.iter().any(|wanted| wanted.id == step.id)).collect()
}

/// Checks the free space before the first build, because on a full disk the linker crashes with a
/// bus error.
///
/// # Errors
/// If the disk has too little space for the files that the steps build and install.
fn room(v: &Verification) -> Result<()> {
    // Size of the build folder after a verification of each size, in GiB. At least half a GiB is
    // always rebuilt.
    let total = if v.options.size() == Size::Quick { 3.5 } else { 14.0 };
    let builds = (total - used(&v.root.join("target/verify")) as f64 / GIB).max(0.5);
    let packages = if v.interpreter().is_ok() || v.options.no_python { 0.0 } else { 2.0 };
    let needed = builds + packages;
    match free_kib(&v.root) {
        Some(free) if (free as f64) * 1024.0 < needed * GIB => bail!(
            "verification needs {needed:.1} GiB on the disk of {} ({builds:.1} for builds, \
             {packages:.1} for Python's packages), but only {:.1} GiB are free",
            v.root.display(),
            free as f64 * 1024.0 / GIB
        ),
        _ => Ok(()),
    }
}

const GIB: f64 = (1 << 30) as f64;

/// Returns the total size of all readable files in a folder.
fn used(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(about) if about.is_dir() => used(&entry.path()),
            Ok(about) => about.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_unique_names_and_follow_their_needs() {
        for (at, step) in STEPS.iter().enumerate() {
            assert!(step.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", step.id);
            for needed in step.after {
                let place = STEPS.iter().position(|other| other.id == *needed);
                assert!(place.is_some_and(|place| place < at), "{} needs {needed}", step.id);
            }
            assert_eq!(STEPS.iter().filter(|other| other.id == step.id).count(), 1);
        }
    }

    #[test]
    fn with_needs_adds_dependencies() {
        let bridge = step::named("bridge").unwrap();
        let ids: Vec<&str> = with_needs(vec![bridge]).iter().map(|step| step.id).collect();
        assert_eq!(ids, ["copy", "python", "build", "bridge"]);
    }

    #[test]
    fn steps_need_no_larger_steps() {
        for step in &STEPS {
            for needed in step.after.iter().filter_map(|id| step::named(id)) {
                assert!(needed.size <= step.size, "{} needs {}", step.id, needed.id);
            }
        }
    }
}
