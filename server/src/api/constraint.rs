//! What holds an answer to a form. JSON objects are there; schemas and calls of tools are not, and are
//! refused by name.
//!
//! This is the one place where a form is read. It travels to the engine in [`tiny_llm_cli::Request`],
//! and the engine refuses a budget in which no answer of that form fits.

use serde_json::Value;
use tiny_llm_cli::Form;

use super::{error::ApiError, fields::Fields};

/// Takes `response_format`, `tools` and what belongs to them.
///
/// # Errors
/// If they ask for anything but plain text or a JSON object.
pub(super) fn read(fields: &mut Fields) -> Result<Option<Form>, ApiError> {
    for name in ["tools", "functions", "function_call", "parallel_tool_calls"] {
        if fields.take(name).is_some() {
            return Err(ApiError::unsupported(name, "models here call no tools"));
        }
    }
    if fields.take("tool_choice").is_some_and(|choice| choice != "none") {
        return Err(ApiError::unsupported("tool_choice", "models here call no tools"));
    }
    let Some(format) = fields.take("response_format") else { return Ok(None) };
    let kind = format.get("type").and_then(Value::as_str);
    match (kind, format.as_object().map(serde_json::Map::len)) {
        (Some("text"), Some(1)) => Ok(None),
        (Some("json_object"), Some(1)) => Ok(Some(Form::Json)),
        _ => {
            let why = "answers are {\"type\": \"text\"} or {\"type\": \"json_object\"}";
            Err(ApiError::unsupported("response_format", why))
        }
    }
}
