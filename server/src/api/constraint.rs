//! What would hold an answer to a form: JSON, a schema, a call of a tool. None of it is there yet, and
//! asking for it is refused by name.
//!
//! This is the one place where it is read. A constraint that the engine can keep to becomes this
//! function's value, and travels to the engine in [`tiny_llm_cli::BatchExtras`].

use serde_json::Value;

use super::{error::ApiError, fields::Fields};

/// Takes `response_format`, `tools` and what belongs to them.
///
/// # Errors
/// If they ask for anything but plain text.
pub(super) fn read(fields: &mut Fields) -> Result<(), ApiError> {
    if let Some(format) = fields.take("response_format") {
        let kind = format.get("type").and_then(Value::as_str);
        if kind != Some("text") || format.as_object().is_none_or(|object| object.len() > 1) {
            let why = "answers are text; {\"type\": \"text\"} is the only format";
            return Err(ApiError::unsupported("response_format", why));
        }
    }
    for name in ["tools", "functions", "function_call", "parallel_tool_calls"] {
        if fields.take(name).is_some() {
            return Err(ApiError::unsupported(name, "models here call no tools"));
        }
    }
    match fields.take("tool_choice") {
        Some(choice) if choice != "none" => {
            Err(ApiError::unsupported("tool_choice", "models here call no tools"))
        }
        _ => Ok(()),
    }
}
