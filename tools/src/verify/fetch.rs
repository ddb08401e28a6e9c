//! Tests `cargo llm fetch` with good and faulty hubs on this machine, while its process is killed.
//! Then tests it together with `huggingface_hub` and `transformers` in one cache.

use anyhow::Result;

use super::{
    context::{NotVerified, Outcome, Verification, passed, succeeds},
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
    let lacks = |error| NotVerified(format!("huggingface_hub: {error}; passed: {tests}"));
    let mut pytest = v.python().map_err(lacks)?;
    let built = v.root.join("target/verify/build/debug");
    let named = |name: &str| built.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    pytest.env("TINY_LLM_FETCH", named("tiny-llm-fetch"));
    pytest.env("TINY_LLM_HUB", named("examples/hub"));
    passed(&succeeds(pytest.args(["-m", "pytest", "fetch/tests/python"]))?)?;
    Ok(Outcome::Passed(format!(
        "{tests}, process killed {KILLS} times; agrees with huggingface_hub and transformers"
    )))
}
