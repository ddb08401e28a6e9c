//! Tests the replicas of `cluster/` on a local cluster of two nodes, with a bridge that contains
//! their engine. This needs Ray, an extra of `pyproject.toml` that nothing else uses.

use anyhow::Result;

use super::context::{Outcome, Verification, passed, succeeds};
use crate::process::run_quietly;

/// The message if Ray is missing.
const MISSING: &str =
    "Ray is not installed (.venv/bin/python -m pip install 'ray[serve,data]==2.60.0')";

/// Runs all tests of `cluster/tests`.
pub(super) fn cluster(v: &Verification) -> Result<Outcome> {
    let mut probe = v.python()?;
    if !run_quietly(probe.args(["-c", "import ray.serve, ray.data"]))?.status.success() {
        return Ok(Outcome::NotVerified(MISSING.to_owned()));
    }
    // The measured figures are compared with this program's.
    succeeds(&mut v.cargo("build --release --bin tiny-llm --features cli,reference"))?;
    v.build_bridge(&["--release", "--features", "serve"])?;
    let mut pytest = v.python()?;
    pytest.env("TINY_LLM", v.root.join("target/verify/build/release/tiny-llm"));
    let finished = succeeds(pytest.args(["-m", "pytest", "cluster/tests"]))?;
    let closing = passed(&finished)?;
    let told = finished.text.lines().filter(|line| line.contains("hits in turn"));
    let told: Vec<&str> = told.collect();
    Ok(Outcome::Passed(format!("{closing}; {}", told.join("; "))))
}
