//! Measures how long a learner waits on the first day. The results are reported but not asserted,
//! because the machine may be busy.

use std::{fs, path::Path, time::Duration};

use anyhow::Result;
use course::explain::counted;

use super::{
    context::{Outcome, Verification},
    promise::{self, Promise},
    tree::write_if_changed,
};
use crate::{process::run_quietly, proof};

/// Measures a cold build of the first day's tests, then the time from an edit in `src/` to the
/// verdict.
pub(super) fn first_day(v: &Verification) -> Result<Outcome> {
    let target = v.root.join("target/verify/cold");
    remove(&target)?;
    let day = v.curriculum.days().next().expect("a course has a day");
    let arguments = format!("test --test {} --features {}", day.module(), day.feature);
    let own_profile = proof::learners_profile(&v.root)?.display().to_string();

    let mut build = v.cargo(&arguments);
    build.args(["--no-run", "--config", &own_profile]).env("CARGO_TARGET_DIR", &target);
    let cold = run_quietly(&mut build)?;
    if !cold.status.success() {
        return Ok(Outcome::Failed(cold.tail(20)));
    }

    let path = v.tree.join(&day.tasks[0].file);
    let text = fs::read_to_string(&path)?;
    let mut edits = Vec::new();
    for n in 0..5 {
        write_if_changed(&path, format!("{text}\n// edit {n}\n").as_bytes())?;
        let mut test = v.cargo(&arguments);
        test.args(["task_1", "--config", &own_profile]).env("CARGO_TARGET_DIR", &target);
        edits.push(run_quietly(&mut test)?.duration);
    }
    write_if_changed(&path, text.as_bytes())?;
    remove(&target)?;
    edits.sort();

    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let promise = |what: &str, time: Duration, promised| Promise {
        what: what.to_owned(),
        found: time.as_secs_f64(),
        promised,
        unit: "s",
    };
    Ok(promise::outcome(
        &[promise("cold build", cold.duration, 20.0), promise("edit to verdict", edits[2], 1.0)],
        &format!("promised for two idle cores, measured on {}", counted(cores, "core")),
    ))
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(())
}
