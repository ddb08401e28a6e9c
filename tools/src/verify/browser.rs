//! The book's pages and the server's in headless Chromium, where there is one.

use std::{path::PathBuf, process::Command};

use anyhow::{Context, Result, ensure};

use super::context::{Outcome, Verification, succeeds};
use crate::{environment, process::run_quietly};

/// What the browser is called.
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// All of it.
pub(super) fn browser(v: &mut Verification) -> Result<Outcome> {
    v.take_python();
    let Some(program) = chromium() else {
        return Ok(Outcome::NotVerified(format!("missing: {}", PROGRAMS.join(" or "))));
    };
    let mut pip = match v.python("") {
        Ok(command) => command,
        Err(outcome) => return Ok(outcome),
    };
    pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--quiet"]);
    if let Err(error) = succeeds(pip.args(environment::extra(&v.root, "browser")?)) {
        return Ok(Outcome::NotVerified(format!("{error:#}")));
    }
    v.cargo_succeeds("course book --build")?;
    v.cargo_succeeds("build --features serve,reference --bin tiny-llm-serve")?;
    let mut pytest = v.python("").map_err(|_| anyhow::anyhow!("there was one above"))?;
    pytest
        .env("PYTHONPATH", v.tree.join("book/tests"))
        .env("CHROMIUM", program)
        .env("TINY_LLM_SERVE", v.root.join("target/verify/build/debug/tiny-llm-serve"))
        .args(["-m", "pytest", "-p", "browsing", "-q", "book/tests", "server/tests/browser"]);
    let finished = succeeds(&mut pytest)?;
    let closing = finished.text.lines().rev().find(|line| line.contains(" passed"));
    let closing = closing.context("pytest ran no test")?;
    ensure!(!closing.contains("skipped"), "pytest left tests out: {closing}");
    Ok(Outcome::Passed(closing.trim_matches(['=', ' ']).to_owned()))
}

/// Where the browser is, if anywhere: CHROMIUM says so, or the path.
fn chromium() -> Option<PathBuf> {
    if let Some(program) = std::env::var_os("CHROMIUM") {
        return Some(program.into());
    }
    PROGRAMS
        .into_iter()
        .find(|name| run_quietly(Command::new(name).arg("--version")).is_ok())
        .map(PathBuf::from)
}
