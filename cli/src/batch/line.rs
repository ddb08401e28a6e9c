//! One line of a file of requests, with OpenAI's field names.

use std::sync::Arc;

use anyhow::{Result, anyhow, bail, ensure};
use serde_json::{Map, Value};
use tiny_llm_schema::{Json, Shape};

use super::super::Form;
use tiny_llm_formats::{chat::Message, request::SamplerOptions};

/// A parsed request.
pub(super) struct Line {
    pub(super) prompt: Prompt,
    pub(super) max_tokens: usize,
    pub(super) stop: Vec<String>,
    pub(super) sampling: SamplerOptions,
    pub(super) seed: u64,
    pub(super) form: Option<Form>,
}

pub(super) enum Prompt {
    /// A text to continue.
    Text(String),
    /// Messages of a conversation, which the answer continues.
    Messages(Vec<Message>),
}

/// The values of the fields that a request's line omits.
pub(super) struct Defaults {
    pub(super) max_tokens: usize,
    pub(super) sampling: SamplerOptions,
    /// Seed of the first request. Each later request has a seed that is larger by 1.
    pub(super) seed: u64,
    pub(super) form: Option<Form>,
}

const FIELDS: [&str; 8] =
    ["prompt", "messages", "max_tokens", "temperature", "top_p", "stop", "seed", "response_format"];

impl Line {
    /// Parses a request's line. `index` is the index of the request, counted from 0.
    ///
    /// # Errors
    /// If the line is not a JSON object, or a field is unknown, missing or invalid. The message
    /// does not name the line.
    pub(super) fn read(bytes: &[u8], index: usize, defaults: &Defaults) -> Result<Self> {
        let value: Value = serde_json::from_slice(bytes).map_err(|e| anyhow!("not JSON: {e}"))?;
        let Value::Object(fields) = value else {
            bail!("found {}, expected a JSON object", kind(&value));
        };
        if let Some(name) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
            bail!("found the field {name:?}, expected only {}", FIELDS.join(", "));
        }
        let SamplerOptions { temperature, top_p, .. } = defaults.sampling;
        let sampling = SamplerOptions {
            temperature: number(&fields, "temperature", temperature)?,
            top_p: number(&fields, "top_p", top_p)?,
            ..defaults.sampling.clone()
        };
        Ok(Self {
            prompt: prompt(&fields)?,
            max_tokens: usize::try_from(whole(&fields, "max_tokens", defaults.max_tokens as u64)?)
                .unwrap_or(usize::MAX),
            stop: stop(&fields)?,
            form: form(bytes, &fields, defaults.form.clone())?,
            sampling,
            seed: whole(&fields, "seed", defaults.seed.wrapping_add(index as u64))?,
        })
    }
}

/// Reads the constraint on the answer from the field `response_format`, or returns `default` if
/// that field is missing. Its type is `text`, `json_object` or `json_schema`, as in OpenAI's API.
fn form(line: &[u8], fields: &Map<String, Value>, default: Option<Form>) -> Result<Option<Form>> {
    let Some(value) = fields.get("response_format").filter(|value| !value.is_null()) else {
        return Ok(default);
    };
    match value.get("type").and_then(Value::as_str) {
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(Form::Json)),
        Some("json_schema") => {
            // Parse the line again, because `Value` doesn't keep the order of the keys.
            let ordered = Json::parse(line).map_err(|e| anyhow!("not JSON: {e}"))?;
            let place = "/response_format/json_schema/schema";
            let Some(schema) = ordered.at(place) else {
                bail!("\"response_format\": found json_schema without {place:?}");
            };
            let shape =
                Shape::of_schema(schema).map_err(|e| anyhow!("\"response_format\": {e}"))?;
            Ok(Some(Form::Shape(Arc::new(shape))))
        }
        Some(other) => {
            bail!(
                "\"response_format\": found the type {other:?}, expected text, json_object or \
                   json_schema"
            )
        }
        None => {
            bail!("\"response_format\": found {}, expected an object with a \"type\"", kind(value))
        }
    }
}

fn prompt(fields: &Map<String, Value>) -> Result<Prompt> {
    match (fields.get("prompt"), fields.get("messages")) {
        (Some(Value::String(text)), None) => {
            ensure!(!text.is_empty(), "\"prompt\": found an empty string, expected some text");
            Ok(Prompt::Text(text.clone()))
        }
        (Some(other), None) => bail!("\"prompt\": found {}, expected a string", kind(other)),
        (None, Some(Value::Array(messages))) => {
            ensure!(
                !messages.is_empty(),
                "\"messages\": found an empty array, expected at least one message"
            );
            let messages = messages.iter().zip(0..).map(|(value, i)| message(value, i));
            Ok(Prompt::Messages(messages.collect::<Result<_>>()?))
        }
        (None, Some(other)) => bail!("\"messages\": found {}, expected an array", kind(other)),
        (Some(_), Some(_)) => bail!("found both \"prompt\" and \"messages\", expected one of them"),
        (None, None) => bail!("found neither \"prompt\" nor \"messages\", expected one of them"),
    }
}

fn message(value: &Value, i: usize) -> Result<Message> {
    let place = format!("\"messages\"[{i}]");
    let Value::Object(fields) = value else {
        bail!("{place}: found {}, expected an object", kind(value));
    };
    if let Some(name) = fields.keys().find(|name| !matches!(name.as_str(), "role" | "content")) {
        bail!("{place}: found the field {name:?}, expected role and content");
    }
    let text = |name: &str| match fields.get(name) {
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(other) => bail!("{place}: {name:?}: found {}, expected a string", kind(other)),
        None => bail!("{place}: found no {name:?}"),
    };
    let role = text("role")?;
    ensure!(
        matches!(role, "system" | "user" | "assistant"),
        "{place}: \"role\": found {role:?}, expected system, user or assistant"
    );
    Ok(Message::new(role, text("content")?))
}

/// Reads the field `stop`: one stop text or an array of stop texts. No stop text may be empty.
fn stop(fields: &Map<String, Value>) -> Result<Vec<String>> {
    let one = |value: &Value| match value {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        Value::String(_) => bail!("\"stop\": found an empty string, expected at least one byte"),
        other => bail!("\"stop\": found {}, expected a string or an array of strings", kind(other)),
    };
    match fields.get("stop") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(texts)) => texts.iter().map(one).collect(),
        Some(text) => Ok(vec![one(text)?]),
    }
}

/// Reads the number in the field `name`, or returns `default` if the field is missing. The engine
/// checks the number's range.
fn number(fields: &Map<String, Value>, name: &str, default: f32) -> Result<f32> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(default),
        Some(value) => value
            .as_f64()
            .map(|number| number as f32)
            .ok_or_else(|| anyhow!("{name:?}: found {}, expected a number", kind(value))),
    }
}

fn whole(fields: &Map<String, Value>, name: &str, default: u64) -> Result<u64> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(default),
        Some(value) => value.as_u64().ok_or_else(|| {
            anyhow!("{name:?}: found {}, expected a whole number of at least 0", kind(value))
        }),
    }
}

/// Describes a value for an error message: a string, an array or an object by its type, any other
/// value as it is.
fn kind(value: &Value) -> String {
    match value {
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    }
}
