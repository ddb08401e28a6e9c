//! Reads constraints on answers: a JSON object, a schema, tool calls.
//!
//! All constraints are read here. [`tiny_llm_cli::Batch::submit`] passes them to the engine. The
//! engine refuses a request whose token limit is too small for the shortest valid answer.

use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::Value;
use tiny_llm_cli::{Form, Json, Refused, Shape, Style, Tool};

use super::{calls::Finder, error::ApiError, fields::Fields, kind::Kind};

/// Maximum length of a tool's or a schema's name, as in OpenAI's API.
const MAX_NAME: usize = 64;

/// The constraint on each answer to a request, and the tools that an answer may call.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub(super) form: Option<Form>,
    /// Tools to list in the prompt, unchanged from the request.
    pub(super) tools: Vec<Json>,
    /// Finds calls in an answer's text. `None` if an answer may not call tools.
    pub(super) calls: Option<Finder>,
}

/// Reads `response_format`, `tools` and related fields. If there is a schema, parses `body` again
/// to get the order of the schema's keys, because answers keep that order.
///
/// # Errors
/// If the value of a field is unsupported, or a schema is invalid.
pub(super) fn read(
    fields: &mut Fields,
    kind: Kind,
    body: &[u8],
    style: Style,
) -> Result<Wanted, ApiError> {
    for name in ["functions", "function_call"] {
        if fields.take(name).is_some() {
            let why = "use \"tools\" and \"tool_choice\" instead";
            return Err(ApiError::unsupported(name, why));
        }
    }
    let wanted = tools(fields, kind, body, style)?;
    let Some(format) = fields.take("response_format") else { return Ok(wanted) };
    let mut inner = Fields::of(format, "response_format.")?;
    let form = match inner.text("type")?.as_deref() {
        Some("text") => None,
        Some("json_object") => Some(Form::Json),
        Some("json_schema") => Some(schema(&mut inner, &ordered(body)?)?),
        _ => {
            let why = "expected the type text, json_object or json_schema";
            return Err(ApiError::unsupported("response_format", why));
        }
    };
    if inner.end().is_err() {
        let why = "the only fields are \"type\" and, for the type json_schema, \"json_schema\"";
        return Err(ApiError::unsupported("response_format", why));
    }
    if form.is_some() && wanted.form.is_some() {
        let why = "an answer either calls tools or follows a \"response_format\"; omit \
                   \"response_format\" or \"tools\"";
        return Err(ApiError::unsupported("response_format", why));
    }
    Ok(Wanted { form: form.or(wanted.form), ..wanted })
}

/// Parses the body and keeps the order of its keys.
fn ordered(body: &[u8]) -> Result<Json, ApiError> {
    Json::parse(body).map_err(|e| ApiError::invalid(format!("the body is not JSON: {e}")))
}

fn schema(format: &mut Fields, ordered: &Json) -> Result<Form, ApiError> {
    let value = format.take("json_schema").ok_or_else(|| format.missing("json_schema"))?;
    let mut fields = Fields::of(value, "response_format.json_schema.")?;
    named(&mut fields)?;
    fields.text("description")?;
    // Answers always match the schema, whether `strict` or not.
    fields.flag("strict")?;
    let missing = fields.missing("schema");
    fields.take("schema").ok_or_else(|| missing.clone())?;
    fields.end()?;
    let schema = ordered.at("/response_format/json_schema/schema").ok_or(missing)?;
    let shape =
        Shape::of_schema(schema).map_err(|refused| of_schema("response_format", &refused))?;
    Ok(Form::Shape(Arc::new(shape)))
}

/// Returns the error for an invalid or unsupported schema.
fn of_schema(name: &str, refused: &Refused) -> ApiError {
    let error = ApiError::field(name, format!("{name:?}: {refused}"));
    error.with(StatusCode::BAD_REQUEST, "invalid_json_schema")
}

/// Reads the name of a tool or a schema.
fn named(fields: &mut Fields) -> Result<String, ApiError> {
    let (found, place) = (fields.text("name")?, fields.name("name"));
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let valid = |name: &String| (1..=MAX_NAME).contains(&name.len()) && name.chars().all(letter);
    found.filter(valid).ok_or_else(|| {
        let expected = format!("expected 1 to {MAX_NAME} characters from a-z, A-Z, 0-9, _ and -");
        ApiError::field(&place, format!("{place:?}: {expected}"))
    })
}

/// Which tools an answer may or must call.
enum Choice {
    Auto,
    None,
    Required,
    Named(String),
}

/// Reads `tools`, `tool_choice` and `parallel_tool_calls`.
///
/// # Errors
/// If a tool is invalid, or `tool_choice` names a tool that is not in the list.
pub(super) fn tools(
    fields: &mut Fields,
    kind: Kind,
    body: &[u8],
    style: Style,
) -> Result<Wanted, ApiError> {
    let listed = fields.take("tools");
    if kind == Kind::Completion && listed.is_some() {
        return Err(ApiError::unsupported("tools", "a completion cannot call tools"));
    }
    let listed = match listed {
        None => Vec::new(),
        Some(Value::Array(all)) => all,
        Some(other) => return Err(fields.wrong("tools", &other, "an array")),
    };
    let (choice, parallel) = (choice(fields)?, fields.flag("parallel_tool_calls")?);
    if listed.is_empty() {
        let name = match choice {
            None | Some(Choice::None) if parallel.is_none() => return Ok(Wanted::default()),
            None | Some(Choice::None) => "parallel_tool_calls",
            Some(_) => "tool_choice",
        };
        return Err(ApiError::field(name, format!("{name:?} needs \"tools\"")));
    }
    let ordered = ordered(body)?;
    let mut tools = Vec::new();
    for (i, value) in listed.into_iter().enumerate() {
        tools.push(tool(value, i, &ordered)?);
    }
    let shown = match ordered.at("/tools") {
        Some(Json::List(all)) => all.clone(),
        _ => Vec::new(),
    };
    let refused = |refused: Refused| of_schema("tools", &refused);
    // All schemas are read, including those of tools that may not be called.
    let auto = Shape::of_calls(&tools, style, true).map_err(refused)?;
    // A function chosen by name is called once.
    let named = matches!(choice, Some(Choice::Named(_)));
    let several = parallel.unwrap_or(true) && !named;
    let (shape, free) = match choice.unwrap_or(Choice::Auto) {
        Choice::None => return Ok(Wanted::default()),
        Choice::Auto => (auto, true),
        Choice::Required => (Shape::of_calls(&tools, style, false).map_err(refused)?, false),
        Choice::Named(name) => {
            tools.retain(|tool| tool.name == name);
            if tools.is_empty() {
                let message = format!(
                    "\"tool_choice\": found {name:?}, expected the name of one of \"tools\""
                );
                return Err(ApiError::field("tool_choice", message));
            }
            (Shape::of_calls(&tools, style, false).map_err(refused)?, false)
        }
    };
    let shape = if several { shape.several() } else { shape };
    let form = Some(Form::Shape(Arc::new(shape)));
    Ok(Wanted { form, tools: shown, calls: Some(Finder::new(style, free, several)) })
}

fn choice(fields: &mut Fields) -> Result<Option<Choice>, ApiError> {
    let value = match fields.take("tool_choice") {
        None => return Ok(None),
        Some(Value::String(word)) => {
            return match word.as_str() {
                "auto" => Ok(Some(Choice::Auto)),
                "none" => Ok(Some(Choice::None)),
                "required" => Ok(Some(Choice::Required)),
                _ => {
                    let message = "\"tool_choice\": expected auto, none, required or a function";
                    Err(ApiError::field("tool_choice", message))
                }
            };
        }
        Some(value) => value,
    };
    let mut choice = Fields::of(value, "tool_choice.")?;
    if choice.text("type")?.as_deref() != Some("function") {
        let why = "expected {\"type\": \"function\", \"function\": {\"name\": …}}";
        return Err(ApiError::unsupported("tool_choice", why));
    }
    let function = choice.take("function").unwrap_or_default();
    let mut function = Fields::of(function, "tool_choice.function.")?;
    let name = named(&mut function)?;
    function.end()?;
    choice.end()?;
    Ok(Some(Choice::Named(name)))
}

fn tool(value: Value, i: usize, ordered: &Json) -> Result<Tool, ApiError> {
    let mut fields = Fields::of(value, &format!("tools[{i}]."))?;
    if fields.text("type")?.as_deref() != Some("function") {
        let why = "the only type of tool is \"function\"";
        return Err(ApiError::unsupported(&fields.name("type"), why));
    }
    let function = fields.take("function").unwrap_or_default();
    let mut function = Fields::of(function, &fields.name("function."))?;
    let name = named(&mut function)?;
    let description = function.text("description")?;
    // A call always matches its schema, whether `strict` or not.
    function.flag("strict")?;
    let given = function.take("parameters").is_some();
    function.end()?;
    fields.end()?;
    let parameters = ordered.at(&format!("/tools/{i}/function/parameters")).cloned();
    Ok(Tool { name, description, parameters: parameters.filter(|_| given) })
}
