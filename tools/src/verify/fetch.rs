//! Tests `cargo llm fetch` with good and faulty hubs on this machine, while its process is killed.
//! Then tests it together with `huggingface_hub` and `transformers` in one cache.

use anyhow::{Context, Result, ensure};

use super::{
    context::{Outcome, Verification, succeeds},
    rust::count,
};

/// Number of times that the process is killed.
const KILLS: &str = "100";

/// Runs both kinds of tests.
pub(super) fn fetch(v: &Verification) -> Result<Outcome> {
    let mut tests = v.cargo("test --no-fail-fast --package tiny-llm-fetch");
    let tests = succeeds(tests.env("TINY_LLM_FETCH_KILLS", KILLS))?;
    let tests = count(&tests.text)?;
    v.cargo_succeeds("build --package tiny-llm-fetch --bins --examples")?;
    let mut pytest = match v.python("") {
        Ok(command) => command,
        Err(Outcome::NotVerified(reason)) => {
            let note = format!("huggingface_hub: {reason}; passed: {tests}");
            return Ok(Outcome::NotVerified(note));
        }
        Err(other) => return Ok(other),
    };
    let built = v.root.join("target/verify/build/debug");
    let named = |name: &str| built.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    pytest.env("TINY_LLM_FETCH", named("tiny-llm-fetch"));
    pytest.env("TINY_LLM_HUB", named("examples/hub"));
    let finished = succeeds(pytest.args(["-m", "pytest", "fetch/tests/python"]))?;
    let closing = finished.text.lines().rev().find(|line| line.contains(" passed"));
    let closing = closing.context("pytest ran no test")?;
    ensure!(!closing.contains("skipped"), "pytest skipped tests: {closing}");
    Ok(Outcome::Passed(format!(
        "{tests}, process killed {KILLS} times; agrees with huggingface_hub and transformers"
    )))
}
