//! Reads JSON field by field, so that an error names the field.

use anyhow::{Context, Result};
use serde_json::Value;

/// Returns the text of the field `name`.
///
/// # Errors
/// If the field is missing or not a text.
pub(crate) fn text<'a>(object: &'a Value, name: &str) -> Result<&'a str> {
    object[name]
        .as_str()
        .with_context(|| format!("field {name:?}: found {}, expected a string", object[name]))
}

/// Returns the text of the field `name`, or `None` if the field is missing or null.
///
/// # Errors
/// If the field is something else.
pub(crate) fn optional_text<'a>(object: &'a Value, name: &str) -> Result<Option<&'a str>> {
    if object[name].is_null() { Ok(None) } else { text(object, name).map(Some) }
}

/// Returns the number in the field `name`, which must be an integer of at least 0.
///
/// # Errors
/// If the field is missing, or not such a number.
pub(crate) fn number(object: &Value, name: &str) -> Result<u64> {
    let number = object[name].as_u64();
    number.with_context(|| format!("field {name:?}: found {}, expected a number", object[name]))
}

/// Returns the fields of an object, by name.
///
/// # Errors
/// If the value is not an object.
pub(crate) fn fields(value: &Value) -> Result<&serde_json::Map<String, Value>> {
    value.as_object().with_context(|| format!("found {value}, expected an object"))
}

/// Returns the values of the list in the field `name`.
///
/// # Errors
/// If the field is missing or not a list.
pub(crate) fn list<'a>(object: &'a Value, name: &str) -> Result<&'a [Value]> {
    let values = object[name].as_array().map(Vec::as_slice);
    values.with_context(|| format!("field {name:?}: found {}, expected a list", object[name]))
}
