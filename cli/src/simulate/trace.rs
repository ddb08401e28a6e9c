//! A load from a file with the arrival time, prompt and answer length of each request.

use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;
use tiny_llm_formats::text::Tokenizer;

use super::load::{Arrival, spell};
use crate::{Solution, session};

/// Reads a file with one request per line, as a JSON object. Returns the requests in order of
/// arrival.
pub(super) fn read(solution: &Solution, path: &Path, model: &Path) -> Result<Vec<Arrival>> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| anyhow!("{name}: cannot be read: {e}"))?;
    let mut tokenizer = None;
    let mut arrivals = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let arrival = one(solution, line, number, model, &mut tokenizer);
        arrivals.push(arrival.with_context(|| format!("{name}:{number}"))?);
    }
    ensure!(!arrivals.is_empty(), "{name}: found no JSON, expected one object per line");
    arrivals.sort_by(|a: &Arrival, b| a.time.total_cmp(&b.time));
    Ok(arrivals)
}

fn one(
    solution: &Solution,
    line: &str,
    number: u64,
    model: &Path,
    tokenizer: &mut Option<Tokenizer>,
) -> Result<Arrival> {
    let value: Value = serde_json::from_str(line).map_err(|e| anyhow!("not JSON: {e}"))?;
    let count = |name: &str| {
        let found = value[name].as_u64().and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
        found.with_context(|| {
            format!("{name:?}: found {}, expected a whole number of at least 1", value[name])
        })
    };
    let time = match &value["time"] {
        Value::Null => 0.0,
        time => time.as_f64().filter(|time| *time >= 0.0).with_context(|| {
            format!("\"time\": found {time}, expected seconds since the start, 0 or more")
        })?,
    };
    let prompt = match &value["prompt"] {
        Value::String(text) => {
            if tokenizer.is_none() {
                *tokenizer = Some(session::tokenizer(solution, model)?);
            }
            tokenizer.as_ref().expect("it was opened").encode_prompt(text)?
        }
        _ => {
            let mut prompt = Vec::new();
            spell(number, count("prompt_tokens")?, &mut prompt);
            prompt
        }
    };
    Ok(Arrival { time, prompt, max_new_tokens: count("max_tokens")? })
}
