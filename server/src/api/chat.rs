//! The messages of a conversation.

use serde_json::Value;
use tiny_llm_formats::chat::Message;

use super::{error::ApiError, fields::Fields};

/// Takes `messages`.
///
/// # Errors
/// If there are none, or one of them is not text by the system, the user or the assistant; the error
/// names it by its place.
pub(super) fn messages(fields: &mut Fields) -> Result<Vec<Message>, ApiError> {
    let all = match fields.take("messages") {
        Some(Value::Array(all)) if !all.is_empty() => all,
        Some(Value::Array(_)) => {
            let message = "\"messages\": found none, expected one at least";
            return Err(ApiError::field("messages", message));
        }
        Some(other) => return Err(fields.wrong("messages", &other, "an array")),
        None => return Err(ApiError::field("messages", "\"messages\" is missing")),
    };
    all.into_iter().enumerate().map(|(i, value)| message(value, i)).collect()
}

fn message(value: Value, i: usize) -> Result<Message, ApiError> {
    let mut fields = Fields::of(value, &format!("messages[{i}]."))?;
    let role = fields.text("role")?;
    let role = match role.as_deref() {
        Some(role @ ("system" | "user" | "assistant")) => role,
        // What OpenAI calls it today.
        Some("developer") => "system",
        Some("tool" | "function") => {
            let why = "models here call no tools";
            return Err(ApiError::unsupported(&fields.name("role"), why));
        }
        Some(other) => {
            let found = Value::from(format!("{other:.20}"));
            let expected = "system, developer, user or assistant";
            return Err(fields.wrong("role", &found, expected));
        }
        None => {
            let name = fields.name("role");
            return Err(ApiError::field(&name, format!("{name:?} is missing")));
        }
    };
    let content = match fields.take("content") {
        Some(Value::String(text)) => text,
        Some(Value::Array(parts)) => parts
            .into_iter()
            .enumerate()
            .map(|(part, value)| text(value, i, part))
            .collect::<Result<_, _>>()?,
        Some(other) => return Err(fields.wrong("content", &other, "a string or parts of text")),
        None => {
            let name = fields.name("content");
            return Err(ApiError::field(&name, format!("{name:?} is missing")));
        }
    };
    for name in ["name", "tool_calls", "tool_call_id", "function_call", "refusal", "audio"] {
        if fields.take(name).is_some() {
            let why = "a message is its role and its text";
            return Err(ApiError::unsupported(&fields.name(name), why));
        }
    }
    // An answer's own, sent back.
    match fields.take("annotations") {
        Some(Value::Array(all)) if all.is_empty() => {}
        Some(_) => {
            let why = "a message is its role and its text";
            return Err(ApiError::unsupported(&fields.name("annotations"), why));
        }
        None => {}
    }
    fields.end()?;
    Ok(Message::new(role, &content))
}

/// One part of a message's content.
fn text(value: Value, i: usize, part: usize) -> Result<String, ApiError> {
    let mut fields = Fields::of(value, &format!("messages[{i}].content[{part}]."))?;
    let kind = fields.text("type")?;
    if kind.as_deref() != Some("text") {
        let why = "models here read text alone: expected \"text\"";
        return Err(ApiError::unsupported(&fields.name("type"), why));
    }
    let Some(text) = fields.text("text")? else {
        let name = fields.name("text");
        return Err(ApiError::field(&name, format!("{name:?} is missing")));
    };
    fields.end()?;
    Ok(text)
}
