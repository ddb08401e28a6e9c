//! Tests the server with many well-behaved and misbehaving clients and the real engine, then with
//! `curl`, and with the `openai` package in Python.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStderr, Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

use super::{
    context::{Outcome, Verification, passed, succeeds},
    rust::count,
};
use crate::{
    process::{forget_cargo, run_quietly},
    proof::STACK,
};

/// Number of concurrent clients with `--full`.
const CLIENTS: &str = "1000";

/// Tests the server with many clients, with `curl` and with `openai`.
pub(super) fn server(v: &Verification) -> Result<Outcome> {
    let mut tests = v.cargo("test --no-fail-fast --test serve --features serve,reference");
    if v.options.full {
        tests.env("TINY_LLM_CLIENTS", CLIENTS);
    }
    let tests = succeeds(&mut tests)?;
    let tests = count(&tests.text)?;
    let program = v.root.join("target/verify/build/debug/tiny-llm-serve");
    let missing = [curl(v, &program)?, openai(v, &program)?];
    let missing: Vec<String> = missing.into_iter().flatten().collect();
    let crowd = if v.options.full { CLIENTS } else { "100" };
    let found = format!("{tests}, crowds of {crowd} clients");
    Ok(if missing.is_empty() {
        Outcome::Passed(format!("{found}, curl, openai"))
    } else {
        Outcome::NotVerified(format!("{}; passed: {found}", missing.join("; ")))
    })
}

/// Tests the server with `curl`. If that was not possible, returns why.
fn curl(v: &Verification, program: &Path) -> Result<Option<String>> {
    if run_quietly(Command::new("curl").arg("--version")).is_err() {
        return Ok(Some("missing: curl".to_owned()));
    }
    let server = Server::start(program, &v.tree)?;
    let body = r#"{"model": "m", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4, "stream": true}"#;
    let mut asked = Command::new("curl");
    asked.args(["--silent", "--show-error", "--fail", "--no-buffer", "--max-time", "600"]);
    asked.args(["--header", "content-type: application/json", "--data", body]);
    let path = "/v1/chat/completions";
    let answer = succeeds(asked.arg(format!("http://{}{path}", server.address)))?;
    ensure!(
        answer.output.starts_with("data: {") && answer.output.contains("data: [DONE]"),
        "the server did not answer curl with events:\n{}",
        answer.tail(5)
    );
    Ok(None)
}

/// Tests the server with `openai`. If that was not possible, returns why.
fn openai(v: &Verification, program: &Path) -> Result<Option<String>> {
    let mut probe = match v.python() {
        Ok(command) => command,
        Err(error) => return Ok(Some(format!("openai: {error}"))),
    };
    if !run_quietly(probe.args(["-c", "import openai"]))?.status.success() {
        return Ok(Some("missing: the Python package openai".to_owned()));
    }
    let mut pytest = v.python()?;
    pytest.env("TINY_LLM_SERVE", program);
    passed(&succeeds(pytest.args(["-m", "pytest", "server/tests/python"]))?)?;
    Ok(None)
}

/// A server with the embedded model. Dropping it kills the server.
pub(super) struct Server {
    child: Child,
    pub(super) address: String,
    _errors: BufReader<ChildStderr>,
}

impl Server {
    /// Starts the server's program in `folder`, a copy of the repository.
    pub(super) fn start(program: &Path, folder: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        forget_cargo(&mut command);
        command.args(["serve", "--port", "0", "--model", "models/tiny-story"]);
        command.current_dir(folder).env(STACK.0, STACK.1).stdout(Stdio::null());
        let mut child =
            command.stderr(Stdio::piped()).spawn().context("the server cannot be started")?;
        let mut errors = BufReader::new(child.stderr.take().context("it is piped")?);
        let mut said = String::new();
        while errors.read_line(&mut said)? > 0 {
            if let Some((_, address)) = said.split_once("http://") {
                let address = address.trim_end().trim_end_matches('/').to_owned();
                return Ok(Self { child, address, _errors: errors });
            }
        }
        child.wait()?;
        bail!("the server did not start:\n{said}")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
