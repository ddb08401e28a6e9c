//! Steps that use the proof program and the programs that are built with it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::{
    context::{Outcome, Verification, succeeds},
    replay,
    rust::BRIDGE,
    server::Server,
};
use crate::{
    bank::Bodies,
    curriculum::Day,
    process::{forget_cargo, run_quietly},
    proof::{self, PROGRAM, Program},
};

/// Number of the bank's bodies that the smallest verification tries.
const SAMPLE: usize = 200;
/// Number of the bank's bodies that are tried before the step `matrix`, which tries all of them.
const SAMPLE_OF_WHOLE: usize = 40;

/// Name of the engine's program, built on the reference. The next constant names the server's.
const ENGINE: &str = "tiny-llm";
const SERVER: &str = "tiny-llm-serve";
/// The book's builder.
pub(super) const BOOK: &str = "book-builder";

/// Builds all programs once, and stores their paths. If the step `matrix` follows, the test program
/// contains the whole bank and all held-out mistakes.
pub(super) fn build(v: &Verification) -> Result<Outcome> {
    reach_crates(v)?;
    let days = days(v);
    let bodies =
        if v.options.whole { Bodies::of(&v.root, &v.curriculum, &days)? } else { chosen(v)? };
    bodies.write(&v.root, &v.curriculum, &v.proof)?;
    let features: Vec<&str> = days.iter().map(|day| day.feature.as_str()).collect();
    let features = format!("reference,fresh,serve,{}", features.join(","));
    let engine = ["--test", PROGRAM, "--bin", ENGINE, "--bin", SERVER, "--features", &features];
    let mut programs = proof::build(&v.root, &v.proof, None, &engine)?;
    // Build with the learner's crate as it is, because the bridge is tested on both the stubs and
    // the reference.
    if !v.options.no_python {
        proof::build(&v.root, &v.proof, None, &["--package", BRIDGE[0]])?;
    }
    // Build with the unchanged reference, because the book shows it. In larger verifications, other
    // steps run the book builder in release mode, as learners do.
    let optimized = if v.options.whole { ["--release"].as_slice() } else { &[] };
    let book = [["--package", BOOK].as_slice(), optimized].concat();
    programs.extend(proof::build(&v.root, &v.tree, None, &book)?);
    let built = Built { programs, bodies: bodies.names() };
    fs::write(list(v), serde_json::to_string(&built)?)?;
    Ok(Outcome::Passed(format!("{} days, {bodies}", days.len())))
}

/// The results of the step `build`, for the other steps.
#[derive(Serialize, Deserialize)]
struct Built {
    programs: BTreeMap<String, PathBuf>,
    /// The bodies in the test program, in the order of their numbers.
    bodies: Vec<String>,
}

/// Downloads missing crates. If crates.io cannot be reached, returns a one-line error instead of
/// cargo's many lines.
fn reach_crates(v: &Verification) -> Result<()> {
    let mut fetch = crate::process::cargo(&v.root);
    let fetched = run_quietly(fetch.args(["fetch", "--locked", "--quiet"]))?;
    if !fetched.status.success() {
        let reason = fetched.text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        bail!("the crates of Cargo.lock cannot be downloaded: {}", reason.trim());
    }
    Ok(())
}

/// Returns the days that any machine can test: those that need no graphics adapter.
fn days(v: &Verification) -> Vec<&Day> {
    v.curriculum.days().filter(|day| day.apart.is_none()).collect()
}

fn list(v: &Verification) -> PathBuf {
    v.root.join("target/verify/programs.json")
}

fn built(v: &Verification) -> Result<Built> {
    let text = fs::read_to_string(list(v)).context("the step `build` has not run")?;
    Ok(serde_json::from_str(&text)?)
}

/// Returns the path of the program `name`, which the step `build` has built.
///
/// # Errors
/// If that step has not built it.
pub(super) fn program(v: &Verification, name: &str) -> Result<PathBuf> {
    let mut programs = built(v)?.programs;
    programs.remove(name).with_context(|| format!("the step `build` built no {name}"))
}

fn tests(v: &Verification) -> Result<Program> {
    Program::open(&v.proof, program(v, PROGRAM)?, None)
}

/// Replays every stage of every day.
pub(super) fn replay(v: &Verification) -> Result<Outcome> {
    let (stages, _) = replay::stages(v, &tests(v)?, &days(v), v.tasks().as_ref())?;
    Ok(Outcome::Passed(stages))
}

/// Returns the bodies that the step `mistakes` tries: a sample of the bank or, with `--changed`,
/// those of the changed tasks.
fn chosen(v: &Verification) -> Result<Bodies> {
    let all = Bodies::of(&v.root, &v.curriculum, &days(v))?;
    Ok(match v.tasks() {
        Some(tasks) => all.of_tasks(&tasks),
        None => all.sample(v.seed(), if v.options.whole { SAMPLE_OF_WHOLE } else { SAMPLE }),
    })
}

/// Tries the bodies that [`chosen`] returns.
pub(super) fn mistakes(v: &Verification) -> Result<Outcome> {
    let found = chosen(v)?.try_each(tests(v)?, &built(v)?.bodies)?;
    Ok(Outcome::Passed(match v.tasks() {
        Some(_) => found,
        None => format!("{found} (--seed {})", v.seed()),
    }))
}

/// Tries the whole bank, compares its answers with the recorded ones, and tries all held-out
/// mistakes.
pub(super) fn matrix(v: &Verification) -> Result<Outcome> {
    let days = days(v);
    let bodies = Bodies::of(&v.root, &v.curriculum, &days)?;
    let names = bodies.names();
    let program = if built(v)?.bodies == names {
        tests(v)?
    } else {
        // The step `build` ran for a smaller size, before `--resume`.
        bodies.write(&v.root, &v.curriculum, &v.proof)?;
        Program::build(&v.root, &v.proof, &days, None)?
    };
    bodies.try_all(&v.root, &v.curriculum, &program, &names).map(Outcome::Passed)
}

/// Checks that the command line writes a story and the server answers.
pub(super) fn engine(v: &Verification) -> Result<Outcome> {
    let mut story = Command::new(program(v, ENGINE)?);
    forget_cargo(&mut story);
    story.current_dir(&v.proof).env(proof::STACK.0, proof::STACK.1);
    story.args(["generate", "-p", "Once upon a time", "-n", "24", "--temperature", "0"]);
    let told = succeeds(&mut story)?.output;
    ensure!(told.split_whitespace().count() > 10, "the engine wrote {told:?}, expected a story");

    let server = Server::start(&program(v, SERVER)?, &v.proof)?;
    let answer = ask(&server.address)?;
    let text = answer["choices"][0]["message"]["content"].as_str().unwrap_or_default();
    ensure!(!text.is_empty(), "the server's answer has no text: {answer}");
    Ok(Outcome::Passed(format!(
        "a story of {} bytes, an answer of {} bytes",
        told.len(),
        text.len()
    )))
}

/// Requests a chat completion over a plain socket, because the machine may have no HTTP client.
fn ask(address: &str) -> Result<serde_json::Value> {
    use std::io::{Read, Write};
    let body =
        r#"{"model": "m", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 8}"#;
    let mut stream = std::net::TcpStream::connect(address).with_context(|| address.to_owned())?;
    stream.set_read_timeout(Some(std::time::Duration::from_secs(300)))?;
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\ncontent-type: \
         application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut text = String::new();
    stream.read_to_string(&mut text).context("the server's answer is incomplete")?;
    let (head, body) = text.split_once("\r\n\r\n").context("no HTTP response")?;
    ensure!(
        head.starts_with("HTTP/1.1 200"),
        "{}\n{body}",
        head.lines().next().unwrap_or_default()
    );
    let json = body.find('{').and_then(|from| Some(&body[from..=body.rfind('}')?]));
    serde_json::from_str(json.unwrap_or_default()).with_context(|| format!("not JSON: {body}"))
}

/// Returns the path of the bridge's library.
pub(super) fn bridge_library(v: &Verification) -> PathBuf {
    let (start, end) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    Path::new(&v.root)
        .join("target/verify/build/debug")
        .join(format!("{start}tiny_llm_bridge{end}"))
}
