//! Checks the kernels, tasks and misconceptions for 64-bit Arm: under emulation, or natively on an
//! Arm machine. There, it runs only the kernels' tests, because other steps check the tasks and
//! misconceptions.

use anyhow::{Result, ensure};
use course::explain::counted;

use super::{
    context::{Outcome, Verification, succeeds},
    elsewhere,
    memory::rungs,
    rust::count,
};
use crate::{
    bank,
    processor::{Emulation, PROCESSORS, Processor},
};

const TEST: &str = "--no-fail-fast --release --package tiny-llm-kernels --package \
                    tiny-llm-reference --features tiny-llm-reference/engine --lib --test kernels";

/// Processors that QEMU emulates, with the fastest rung (set of kernels) of each. The first has no
/// dot product.
const MODELS: [(&str, &str); 2] = [("cortex-a53", "neon"), ("max", "neon-i8mm")];

/// Under emulation, runs the kernels' tests on a processor with all instructions and on one with
/// only NEON, replays the tasks, and tries the misconceptions.
pub(super) fn neon(v: &Verification) -> Result<Outcome> {
    let [_, arm] = PROCESSORS;
    if arm.is_here() {
        let finished = v.cargo_succeeds(&format!("test {TEST} -- --show-output"))?;
        let (tests, rungs) = (count(&finished.text)?, rungs(&finished.text)?);
        return Ok(Outcome::Passed(format!("natively: {tests}; {rungs}")));
    }
    let emulation = Emulation::of(arm);
    let missing = emulation.missing();
    if !missing.is_empty() {
        return Ok(Outcome::NotVerified(format!("missing: {}", missing.join("; "))));
    }
    let mut notes = Vec::new();
    for (model, rung) in MODELS {
        let mut test = emulation.cargo(&v.tree, "test", model)?;
        test.env("CARGO_TARGET_DIR", v.root.join("target/verify/arm"));
        test.args(TEST.split_whitespace());
        // Skip a test that runs a small model in many ways, because its waiting threads take
        // minutes under emulation.
        test.args(["--", "--show-output", "--skip", "week2::load"]);
        let finished = succeeds(&mut test)?;
        let (tests, rungs) = (count(&finished.text)?, rungs(&finished.text)?);
        ensure!(rungs.ends_with(rung), "{model} has {rungs}, expected {rung} as the fastest");
        notes.push(format!("{model}: {tests}; {rungs}"));
    }
    notes.push(tasks(v, arm, &emulation)?);
    notes.push(bank::verify_elsewhere(&v.root, &v.curriculum, arm, emulation)?);
    Ok(Outcome::Passed(notes.join("; ")))
}

fn tasks(v: &Verification, arm: Processor, emulation: &Emulation) -> Result<String> {
    let (tasks, problems) = elsewhere::replay(v, arm, emulation)?;
    for problem in &problems {
        println!("{problem}");
    }
    ensure!(problems.is_empty(), "{}; {}", counted(problems.len(), "problem"), problems[0]);
    Ok(format!("{tasks} tasks fail as stubs and pass when solved"))
}
