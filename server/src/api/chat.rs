//! Reads the messages of a conversation.

use serde_json::{Value, json};
use tiny_llm_cli::{Json, Style};
use tiny_llm_formats::chat::Message;

use super::{error::ApiError, fields::Fields};

/// Reads the field `messages`: the messages of a conversation.
///
/// # Errors
/// If there are no messages, or a message has an unsupported role or content. The error gives the
/// index of that message.
pub(super) fn messages(fields: &mut Fields, style: Style) -> Result<Vec<Message>, ApiError> {
    let all = match fields.take("messages") {
        Some(Value::Array(all)) if !all.is_empty() => all,
        Some(Value::Array(_)) => {
            let message = "\"messages\": found an empty array, expected at least one message";
            return Err(ApiError::field("messages", message));
        }
        Some(other) => return Err(fields.wrong("messages", &other, "an array")),
        None => return Err(fields.missing("messages")),
    };
    // Ids of the calls so far, to which tool messages refer.
    let mut ids = Vec::new();
    all.into_iter().enumerate().map(|(i, value)| message(value, i, style, &mut ids)).collect()
}

fn message(
    value: Value,
    i: usize,
    style: Style,
    ids: &mut Vec<String>,
) -> Result<Message, ApiError> {
    let mut fields = Fields::of(value, &format!("messages[{i}]."))?;
    let role = fields.text("role")?;
    let role = match role.as_deref() {
        Some(role @ ("system" | "user" | "assistant" | "tool")) => role,
        // OpenAI's current name for `system`.
        Some("developer") => "system",
        Some("function") => {
            let why = "use the role \"tool\", which replaced \"function\"";
            return Err(ApiError::unsupported(&fields.name("role"), why));
        }
        Some(other) => {
            let found = Value::from(format!("{other:.20}"));
            let expected = "system, developer, user, assistant or tool";
            return Err(fields.wrong("role", &found, expected));
        }
        None => return Err(fields.missing("role")),
    };
    let calls = if role == "assistant" { calls(&mut fields, style, ids)? } else { None };
    if role == "tool" {
        let (id, name) = (fields.text("tool_call_id")?, fields.name("tool_call_id"));
        if id.is_none_or(|id| !ids.contains(&id)) {
            let message = format!("{name:?}: expected the \"id\" of a call in an earlier message");
            return Err(ApiError::field(&name, message));
        }
    }
    let content = match fields.take("content") {
        None if calls.is_some() => String::new(),
        Some(Value::String(text)) => text,
        Some(Value::Array(parts)) => parts
            .into_iter()
            .enumerate()
            .map(|(part, value)| text(value, i, part))
            .collect::<Result<_, _>>()?,
        Some(other) => {
            return Err(fields.wrong("content", &other, "a string or an array of text parts"));
        }
        None => return Err(fields.missing("content")),
    };
    for name in
        ["name", "tool_calls", "tool_call_id", "function_call", "refusal", "audio", "annotations"]
    {
        // A client may send back an answer with annotations, which must be empty.
        let empty = |value: &Value| name == "annotations" && *value == json!([]);
        if fields.take(name).is_some_and(|value| !empty(&value)) {
            let why = "a message has only a role and content";
            return Err(ApiError::unsupported(&fields.name(name), why));
        }
    }
    // The openai package sends back an answer with a parsed copy of its content.
    fields.take("parsed");
    fields.end()?;
    Ok(Message::new(role, &(content + &calls.unwrap_or_default())))
}

/// Reads the tool calls of an earlier answer, adds their ids to `ids`, and returns the calls in the
/// model's syntax.
fn calls(
    fields: &mut Fields,
    style: Style,
    ids: &mut Vec<String>,
) -> Result<Option<String>, ApiError> {
    let all = match fields.take("tool_calls") {
        None => return Ok(None),
        Some(Value::Array(all)) if !all.is_empty() => all,
        Some(other) => return Err(fields.wrong("tool_calls", &other, "an array of calls")),
    };
    let mut texts = Vec::new();
    for (i, call) in all.into_iter().enumerate() {
        let place = fields.name(&format!("tool_calls[{i}]."));
        let mut call = Fields::of(call, &place)?;
        ids.push(call.text("id")?.ok_or_else(|| call.missing("id"))?);
        if call.text("type")?.as_deref() != Some("function") {
            let name = call.name("type");
            return Err(ApiError::field(&name, format!("{name:?}: expected \"function\"")));
        }
        let function = call.take("function").ok_or_else(|| call.missing("function"))?;
        let mut function = Fields::of(function, &call.name("function."))?;
        let name = function.text("name")?.ok_or_else(|| function.missing("name"))?;
        let arguments = function.text("arguments")?.ok_or_else(|| function.missing("arguments"))?;
        if Json::parse(arguments.as_bytes()).is_err() {
            let place = function.name("arguments");
            return Err(ApiError::field(&place, format!("{place:?}: expected JSON as a string")));
        }
        // The openai package sends back a call with a parsed copy of its arguments.
        function.take("parsed_arguments");
        let name = Value::from(name);
        let Style { open, close } = style;
        texts.push(format!("{open}{{\"name\": {name}, \"arguments\": {arguments}}}{close}"));
        function.end()?;
        call.end()?;
    }
    Ok(Some(texts.join("\n")))
}

/// Reads part `part` of the content of message `i`.
fn text(value: Value, i: usize, part: usize) -> Result<String, ApiError> {
    let mut fields = Fields::of(value, &format!("messages[{i}].content[{part}]."))?;
    if fields.text("type")?.as_deref() != Some("text") {
        let why = "the model reads only text; expected \"text\"";
        return Err(ApiError::unsupported(&fields.name("type"), why));
    }
    let text = fields.text("text")?.ok_or_else(|| fields.missing("text"))?;
    fields.end()?;
    Ok(text)
}
