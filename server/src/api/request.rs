//! Reads the body of a request. Rejects unsupported fields, unless their value is null or the
//! default.

use std::hash::{BuildHasher, RandomState};

use serde_json::Value;
use tiny_llm_cli::{Form, Json, Style};
use tiny_llm_formats::{
    chat::Message,
    request::{Extras, Limit, SamplerOptions},
};

use super::{
    calls::Finder,
    chat,
    constraint::{self, Wanted},
    error::ApiError,
    fields::{Fields, kind},
    kind::Kind,
};

/// Maximum number of stop texts, as in OpenAI's API.
const MAX_STOPS: usize = 4;
/// Maximum number of bytes in a stop text. Up to this many bytes of an answer may be held back.
const MAX_STOP: usize = 256;
/// Maximum characters of a user's name, which the live view shows.
const MAX_USER: usize = 64;

/// The limits of a request, and the syntax in which the model writes tool calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Maximum number of answers to a request.
    pub(crate) choices: usize,
    /// The syntax in which the model writes tool calls.
    pub(crate) style: Style,
}

/// A text to continue, or a conversation to answer in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Prompt {
    /// A text to continue.
    Text(String),
    /// A text to continue, as token ids.
    Tokens(Vec<u32>),
    /// The messages of a conversation, which the answer continues.
    Messages(Vec<Message>),
}

/// A parsed request.
#[derive(Debug, Clone)]
pub(crate) struct ApiRequest {
    pub(crate) kind: Kind,
    /// Prompts, at least one. A conversation is always the only prompt.
    pub(crate) prompts: Vec<Prompt>,
    /// Number of answers to each prompt.
    pub(crate) n: usize,
    /// Maximum number of new tokens. With `None`, the answer may fill the context.
    pub(crate) max_tokens: Option<usize>,
    pub(crate) stop: Vec<String>,
    /// Constraint on each answer, if any.
    pub(crate) form: Option<Form>,
    /// Tools to list in the prompt, unchanged from the request.
    pub(crate) tools: Vec<Json>,
    /// Finds tool calls in an answer's text. `None` if an answer may not call tools.
    pub(crate) calls: Option<Finder>,
    pub(crate) sampling: SamplerOptions,
    /// Seed of the first answer. Each later answer has a seed that is larger by 1.
    pub(crate) seed: u64,
    pub(crate) extras: Extras,
    pub(crate) stream: bool,
    /// Whether the last chunk of the stream has the token counts.
    pub(crate) include_usage: bool,
    pub(crate) user: Option<String>,
}

impl ApiRequest {
    /// Reads a request's body.
    ///
    /// # Errors
    /// If the body is not a JSON object, or a field is unknown, missing, unsupported or invalid.
    /// The error names the field.
    pub(crate) fn read(kind: Kind, body: &[u8], bounds: Bounds) -> Result<Self, ApiError> {
        let mut fields = Fields::of_body(body)?;
        // There is only one model. Any name is accepted for it, since clients send the names that
        // they know. Each answer gives the real name.
        if fields.text("model")?.is_none() {
            return Err(fields.missing("model"));
        }
        let prompts = match kind {
            Kind::Chat => vec![Prompt::Messages(chat::messages(&mut fields, bounds.style)?)],
            Kind::Completion => prompts(&mut fields)?,
        };
        let Wanted { form, tools, calls } =
            constraint::read(&mut fields, kind, body, bounds.style)?;
        let choices = bounds.choices as u64;
        let n = fields.whole("n", 1..=choices)?.unwrap_or(1) as usize;
        if prompts.len() * n > bounds.choices {
            let message = format!(
                "\"prompt\": found {} prompts and \"n\": {n}, expected at most {choices} answers \
                 in total",
                prompts.len()
            );
            return Err(ApiError::field("prompt", message));
        }
        let stream = fields.flag("stream")?.unwrap_or(false);
        let include_usage = stream_options(&mut fields, stream)?;
        let max_tokens = max_tokens(&mut fields, kind)?;
        let extras = Extras {
            presence: penalty(&mut fields, "presence_penalty")?,
            frequency: penalty(&mut fields, "frequency_penalty")?,
            logprobs: logprobs(&mut fields, kind)?,
        };
        let request = Self {
            kind,
            prompts,
            n,
            max_tokens,
            stop: stop(&mut fields)?,
            form,
            tools,
            calls,
            sampling: sampling(&mut fields)?,
            seed: seed(&mut fields)?,
            extras,
            stream,
            include_usage,
            user: user(&mut fields)?,
        };
        if request.form.is_some() && !request.stop.is_empty() {
            let by = if request.calls.is_some() { "tools" } else { "response_format" };
            let message = format!(
                "\"stop\" is not supported with {by:?}: a stop text could cut off the constrained \
                 answer"
            );
            return Err(ApiError::field("stop", message));
        }
        if request.calls.is_some() && request.extras.logprobs.is_some() {
            let why = "tool calls have no logprobs; omit \"logprobs\" or \"tools\"";
            return Err(ApiError::unsupported("logprobs", why));
        }
        refuse(&mut fields)?;
        fields.end()?;
        Ok(request)
    }

    /// Returns the number of answers to all prompts together.
    pub(crate) fn answers(&self) -> usize {
        self.prompts.len() * self.n
    }
}

fn sampling(fields: &mut Fields) -> Result<SamplerOptions, ApiError> {
    // OpenAI's upper limit.
    let temperature = |x: f64| x <= 2.0 && Limit::TEMPERATURE.allows(x as f32);
    let temperature = fields.number("temperature", temperature, "a number from 0 to 2")?;
    let mut within =
        |limit: Limit| fields.number(limit.name, |x| limit.allows(x as f32), limit.expected);
    // OpenAI has no `min_p`, `repetition_penalty` or `top_k`. Other servers use these names.
    let (top_p, min_p) = (within(Limit::TOP_P)?, within(Limit::MIN_P)?);
    let repetition_penalty = within(Limit::REPETITION_PENALTY)?;
    let top_k = fields.whole("top_k", 0..=u64::from(u32::MAX))?.map(|k| k as usize);
    let default = SamplerOptions::default();
    Ok(SamplerOptions {
        temperature: temperature.unwrap_or(default.temperature),
        top_k: top_k.unwrap_or(default.top_k),
        top_p: top_p.unwrap_or(default.top_p),
        min_p: min_p.unwrap_or(default.min_p),
        repetition_penalty: repetition_penalty.unwrap_or(default.repetition_penalty),
    })
}

/// Reads the field `seed`. A request without this field gets a random seed.
fn seed(fields: &mut Fields) -> Result<u64, ApiError> {
    let Some(value) = fields.take("seed") else { return Ok(RandomState::new().hash_one(0)) };
    // A negative seed is reinterpreted as an unsigned number.
    let seed = value.as_u64().or_else(|| value.as_i64().map(i64::cast_unsigned));
    seed.ok_or_else(|| fields.wrong("seed", &value, "a 64-bit whole number"))
}

fn penalty(fields: &mut Fields, name: &str) -> Result<f32, ApiError> {
    let valid = |x: f64| (-2.0..=2.0).contains(&x);
    Ok(fields.number(name, valid, "a number from -2 to 2")?.unwrap_or(0.0))
}

fn max_tokens(fields: &mut Fields, kind: Kind) -> Result<Option<usize>, ApiError> {
    let old = fields.whole("max_tokens", 1..=u64::MAX)?;
    let new = match kind {
        Kind::Chat => fields.whole("max_completion_tokens", 1..=u64::MAX)?,
        Kind::Completion => None,
    };
    let said = match (old, new) {
        (Some(_), Some(_)) => {
            let message = "found both \"max_tokens\" and \"max_completion_tokens\", which mean the \
                           same; expected one of them";
            return Err(ApiError::field("max_tokens", message));
        }
        (old, new) => old.or(new),
    };
    // As in OpenAI's API.
    let default = (kind == Kind::Completion).then_some(16);
    Ok(said.map(|n| usize::try_from(n).unwrap_or(usize::MAX)).or(default))
}

fn logprobs(fields: &mut Fields, kind: Kind) -> Result<Option<usize>, ApiError> {
    if kind == Kind::Completion {
        return Ok(fields.whole("logprobs", 0..=5)?.map(|n| n as usize));
    }
    let wanted = fields.flag("logprobs")?.unwrap_or(false);
    let top = fields.whole("top_logprobs", 0..=20)?.map(|n| n as usize);
    if top.is_some() && !wanted {
        let message = "\"top_logprobs\" needs \"logprobs\": true";
        return Err(ApiError::field("top_logprobs", message));
    }
    Ok(wanted.then_some(top.unwrap_or(0)))
}

fn stream_options(fields: &mut Fields, stream: bool) -> Result<bool, ApiError> {
    let Some(value) = fields.take("stream_options") else { return Ok(false) };
    if !stream {
        let message = "\"stream_options\" needs \"stream\": true";
        return Err(ApiError::field("stream_options", message));
    }
    let mut options = Fields::of(value, "stream_options.")?;
    let usage = options.flag("include_usage")?.unwrap_or(false);
    // Padding hides the length of chunks from eavesdroppers. This server never pads, so it accepts
    // only `false`.
    if options.flag("include_obfuscation")? == Some(true) {
        let why = "chunks of a stream are not padded";
        return Err(ApiError::unsupported("stream_options.include_obfuscation", why));
    }
    options.end()?;
    Ok(usage)
}

/// Reads the field `stop`: one stop text or several. None of them may be empty.
fn stop(fields: &mut Fields) -> Result<Vec<String>, ApiError> {
    let texts = match fields.take("stop") {
        None => return Ok(Vec::new()),
        Some(Value::Array(texts)) => texts,
        Some(text) => vec![text],
    };
    let expected = format!("1 to {MAX_STOPS} strings of 1 to {MAX_STOP} bytes");
    if texts.len() > MAX_STOPS {
        let message = format!("\"stop\": found {} strings, expected {expected}", texts.len());
        return Err(ApiError::field("stop", message));
    }
    let one = |text: Value| match text {
        Value::String(text) if (1..=MAX_STOP).contains(&text.len()) => Ok(text),
        Value::String(text) => {
            let message =
                format!("\"stop\": found a string of {} bytes, expected {expected}", text.len());
            Err(ApiError::field("stop", message))
        }
        other => Err(fields.wrong("stop", &other, "a string or an array of strings")),
    };
    texts.into_iter().map(one).collect()
}

fn user(fields: &mut Fields) -> Result<Option<String>, ApiError> {
    let user = fields.text("user")?;
    match user {
        Some(user) if user.chars().count() > MAX_USER => {
            let message = format!("\"user\": expected at most {MAX_USER} characters");
            Err(ApiError::field("user", message))
        }
        user => Ok(user),
    }
}

/// Reads the field `prompt`: one prompt or several. Each is a text or an array of token ids.
pub(super) fn prompts(fields: &mut Fields) -> Result<Vec<Prompt>, ApiError> {
    let expected = "a string, an array of token ids, or an array of either";
    let value = fields.take("prompt").ok_or_else(|| fields.missing("prompt"))?;
    let wrong = |found: &Value| fields.wrong("prompt", found, expected);
    let tokens = |ids: &[Value]| -> Result<Prompt, ApiError> {
        let id = |value: &Value| match value.as_u64().map(u32::try_from) {
            Some(Ok(id)) => Ok(id),
            _ => Err(fields.wrong("prompt", value, "a token id")),
        };
        Ok(Prompt::Tokens(ids.iter().map(id).collect::<Result<_, _>>()?))
    };
    match value {
        Value::String(text) => Ok(vec![Prompt::Text(text)]),
        Value::Array(all) => match all.first() {
            None => Err(ApiError::field(
                "prompt",
                "\"prompt\": found an empty array, expected at least one prompt",
            )),
            Some(Value::Number(_)) => Ok(vec![tokens(&all)?]),
            Some(_) => all
                .into_iter()
                .map(|one| match one {
                    Value::String(text) => Ok(Prompt::Text(text)),
                    Value::Array(ids) => tokens(&ids),
                    other => Err(wrong(&other)),
                })
                .collect(),
        },
        other => Err(wrong(&other)),
    }
}

/// Rejects fields that other servers support and this server doesn't, unless they have their
/// default values.
fn refuse(fields: &mut Fields) -> Result<(), ApiError> {
    let nothing = |name: &str, value: &Value| match name {
        "store" | "echo" => *value == false,
        "logit_bias" | "metadata" => value.as_object().is_some_and(serde_json::Map::is_empty),
        "service_tier" => *value == "auto" || *value == "default",
        "best_of" => *value == 1,
        "suffix" => *value == "",
        "modalities" => *value == serde_json::json!(["text"]),
        _ => false,
    };
    for (name, why) in [
        ("logit_bias", "the logits of tokens cannot be changed"),
        ("best_of", "every answer is returned; ask for several with \"n\""),
        ("echo", "an answer does not repeat its prompt"),
        ("suffix", "the model continues a text; it does not fill gaps"),
        ("modalities", "answers are text"),
        ("audio", "answers are text"),
        ("prediction", "predicted outputs are not used"),
        ("reasoning_effort", "the model does not reason separately from the answer"),
        ("verbosity", "the model does not control the length; \"max_tokens\" limits it"),
        ("service_tier", "there is one tier, \"default\""),
        ("store", "nothing is stored"),
        ("metadata", "nothing is stored"),
        ("web_search_options", "there is no search"),
        ("prompt_cache_key", "the cache compares the tokens of prompts and needs no key"),
        ("prompt_cache_retention", "the cache keeps prompts until it needs their space"),
        ("safety_identifier", "use \"user\", which the batch view shows"),
    ] {
        if let Some(value) = fields.take(name)
            && !nothing(name, &value)
        {
            let why = format!("{why} (found {})", kind(&value));
            return Err(ApiError::unsupported(name, &why));
        }
    }
    Ok(())
}
