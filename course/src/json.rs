//! Writes JSON with its fields in the given order. Reads JSON field by field, so that an error
//! names the field.

use std::fmt;

use anyhow::{Context, Result};
use serde_json::Value;

/// A value to write. It is formatted with one field per line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Json {
    Null,
    Number(u64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Creates an object with these fields.
    pub(crate) fn object<const N: usize>(fields: [(&str, Json); N]) -> Self {
        Self::Object(fields.map(|(name, value)| (name.to_owned(), value)).into())
    }

    /// Creates a text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a text, or `null` for `None`.
    pub(crate) fn optional(text: Option<&str>) -> Self {
        text.map_or(Self::Null, Self::text)
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let (open, close) = match self {
            Self::Null => return f.write_str("null"),
            Self::Number(number) => return write!(f, "{number}"),
            Self::Text(text) => return f.write_str(&quoted(text)),
            Self::List(_) => ('[', ']'),
            Self::Object(_) => ('{', '}'),
        };
        let parts: Vec<(Option<&str>, &Json)> = match self {
            Self::List(values) => values.iter().map(|value| (None, value)).collect(),
            Self::Object(fields) => {
                fields.iter().map(|(name, value)| (Some(name.as_str()), value)).collect()
            }
            _ => Vec::new(),
        };
        write!(f, "{open}")?;
        for (i, (name, value)) in parts.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            write!(f, "{comma}\n{:1$}", "", 2 * (depth + 1))?;
            if let Some(name) = name {
                write!(f, "{}: ", quoted(name))?;
            }
            value.write(f, depth + 1)?;
        }
        if !parts.is_empty() {
            write!(f, "\n{:1$}", "", 2 * depth)?;
        }
        write!(f, "{close}")
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_fields_in_order() {
        let json = Json::object([
            ("z", Json::Number(1)),
            ("a", Json::List(vec![Json::text("q\"\n"), Json::Null])),
            ("empty", Json::List(Vec::new())),
            ("b", Json::object([("c", Json::optional(None))])),
        ]);
        let text = json.to_string();
        assert_eq!(
            text,
            "{\n  \"z\": 1,\n  \"a\": [\n    \"q\\\"\\n\",\n    null\n  ],\n  \"empty\": [],\n  \
             \"b\": {\n    \"c\": null\n  }\n}"
        );
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["a"][0], "q\"\n");
    }
}
