//! Converts text to tokens and back, without a model.

use serde_json::{Value, json};

use super::{
    chat, constraint,
    error::ApiError,
    fields::Fields,
    kind::Kind,
    request::{Prompt, prompts},
};
use crate::app::App;

/// Returns the tokens that the engine would receive for the body `{"prompt": TEXT}` or
/// `{"messages": […]}`. The second may also contain `tools`.
///
/// # Errors
/// If the body is anything else, or the chat template refuses the messages.
pub(crate) fn tokenize(app: &App, body: &[u8]) -> Result<Value, ApiError> {
    let mut fields = read(body)?;
    let mut tools = Vec::new();
    let (prompt, field) = if fields.has("messages") {
        tools = constraint::tools(&mut fields, Kind::Chat, body, app.style)?.tools;
        (Prompt::Messages(chat::messages(&mut fields, app.style)?), "messages")
    } else {
        match &prompts(&mut fields)?[..] {
            [Prompt::Text(text)] => (Prompt::Text(text.clone()), "prompt"),
            _ => return Err(ApiError::field("prompt", "\"prompt\": expected one string")),
        }
    };
    fields.end()?;
    let tokens = app.encode(&prompt, &tools, field)?;
    Ok(json!({ "count": tokens.len(), "max_model_len": app.context, "tokens": tokens }))
}

/// Returns the text of the tokens in the body `{"tokens": [ID, …]}`.
///
/// # Errors
/// If the body is anything else, or an id is not in the vocabulary.
pub(crate) fn detokenize(app: &App, body: &[u8]) -> Result<Value, ApiError> {
    let mut fields = read(body)?;
    let Some(Value::Array(ids)) = fields.take("tokens") else {
        return Err(ApiError::field("tokens", "\"tokens\": expected an array of token ids"));
    };
    fields.end()?;
    let mut bytes = Vec::new();
    for id in &ids {
        let known = id.as_u64().filter(|&id| id < app.vocabulary as u64);
        let Some(id) = known else {
            let last = app.vocabulary - 1;
            let message = format!("\"tokens\": found {id}, expected ids from 0 to {last}");
            return Err(ApiError::field("tokens", message));
        };
        bytes.extend(app.tokenizer.token_bytes(id as u32));
    }
    Ok(json!({ "prompt": String::from_utf8_lossy(&bytes) }))
}

fn read(body: &[u8]) -> Result<Fields, ApiError> {
    let mut fields = Fields::of_body(body)?;
    // As in other requests, any model name is accepted.
    fields.text("model")?;
    Ok(fields)
}
