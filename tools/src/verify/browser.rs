//! Tests the book's pages and the server's page in headless Chromium, if it is installed.

use std::{path::PathBuf, process::Command};

use anyhow::{Context, Result};

use super::context::{Outcome, Verification, passed, succeeds};
use crate::{environment, process::run_quietly, processor::Compiler};

/// Names of the browser's program.
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Target of the engine in the book's pages.
const WEB: &str = "wasm32-unknown-unknown";
/// Words after the speed that a test reports. The next constants are the words after a time, the
/// promised minimum speed, and the promised maximum time until a page shows something.
const SPEED: &str = " tokens/s written in the page";
const PAINT: &str = " ms to the first paint";
const LEAST: f64 = 30.0;
const LONGEST: f64 = 1000.0;

/// Tests the book's pages and the server's page.
pub(super) fn browser(v: &Verification) -> Result<Outcome> {
    let Some(program) = chromium() else {
        return Ok(Outcome::NotVerified(format!("missing: {}", PROGRAMS.join(" or "))));
    };
    let mut pip = v.python()?;
    pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--quiet"]);
    if let Err(error) = succeeds(pip.args(environment::extra(&v.root, "browser")?)) {
        return Ok(Outcome::NotVerified(format!("{error:#}")));
    }
    v.cargo_succeeds("course book --build")?;
    v.cargo_succeeds("build --features serve,reference --bin tiny-llm-serve")?;
    let compiler = Compiler::find(WEB);
    let mut pytest = v.python()?;
    pytest
        .env("PYTHONPATH", v.tree.join("book/tests"))
        .env("CHROMIUM", program)
        .env("TINY_LLM_SERVE", v.root.join("target/verify/build/debug/tiny-llm-serve"))
        .args(["-m", "pytest", "-p", "browsing", "-q", "book/tests", "server/tests/browser"]);
    if compiler.is_none() {
        pytest.args(["-m", "not engine"]);
    }
    let finished = succeeds(&mut pytest)?;
    let closing = passed(&finished)?;
    if compiler.is_none() {
        let missing = Compiler::missing(WEB);
        return Ok(Outcome::NotVerified(format!(
            "the engine in the book's pages; missing: {missing}; the other tests: {closing}"
        )));
    }
    let (rate, paint) = (told(&finished.text, SPEED)?, told(&finished.text, PAINT)?);
    let note = format!("{closing}; {rate}{SPEED}; {paint}{PAINT}");
    Ok(if rate < LEAST || paint > LONGEST {
        Outcome::Missed(format!("{note}; promised: {LEAST} tokens/s, {LONGEST} ms"))
    } else {
        Outcome::Passed(note)
    })
}

/// Returns the number before `words` in the output of the tests.
fn told(text: &str, words: &str) -> Result<f64> {
    let line = text.lines().find_map(|line| line.trim().strip_suffix(words));
    line.and_then(|number| number.parse().ok()).with_context(|| format!("no test reported{words}"))
}

/// Returns the path of the browser, from CHROMIUM or the PATH.
fn chromium() -> Option<PathBuf> {
    if let Some(program) = std::env::var_os("CHROMIUM") {
        return Some(program.into());
    }
    PROGRAMS
        .into_iter()
        .find(|name| run_quietly(Command::new(name).arg("--version")).is_ok())
        .map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_reported_numbers_between_pytests_dots() {
        let text = "book/tests/test_engine.py \n136 tokens/s written in the page\n.....\n\
                    180 ms to the first paint\n.  [100%]\n7 passed in 46.50s\n";
        assert_eq!(told(text, SPEED).unwrap(), 136.0);
        assert_eq!(told(text, PAINT).unwrap(), 180.0);
        let error = told("7 passed", SPEED).unwrap_err().to_string();
        assert!(error.contains("tokens/s"), "{error}");
    }
}
