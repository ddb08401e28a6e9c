//! The fields of a JSON object. The caller removes every supported field. A field that is left at
//! the end is unknown, and `end` returns an error that names it.

use serde_json::{Map, Value};

use super::error::ApiError;

/// The fields that have not been removed yet. A null field counts as absent, because some clients
/// send every field they know.
pub(crate) struct Fields {
    left: Map<String, Value>,
    /// Prefix of field names in error messages, such as `messages[3].`.
    place: String,
}

impl Fields {
    /// Returns the fields of a request's body.
    pub(crate) fn of_body(body: &[u8]) -> Result<Self, ApiError> {
        let value = serde_json::from_slice(body)
            .map_err(|e| ApiError::invalid(format!("the body is not JSON: {e}")))?;
        Self::of(value, "")
    }

    /// Returns the fields of the object `value`. `place` is the prefix of their names in error
    /// messages.
    pub(crate) fn of(value: Value, place: &str) -> Result<Self, ApiError> {
        let Value::Object(mut left) = value else {
            let name = place.trim_end_matches('.');
            let message = format!("found {}, expected a JSON object", kind(&value));
            return Err(if name.is_empty() {
                ApiError::invalid(message)
            } else {
                ApiError::field(name, format!("{name:?}: {message}"))
            });
        };
        left.retain(|_, value| !value.is_null());
        Ok(Self { left, place: place.to_owned() })
    }

    /// Returns the full name of the field `name`, for error messages.
    pub(crate) fn name(&self, name: &str) -> String {
        format!("{}{name}", self.place)
    }

    /// Returns whether the field `name` is present.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.left.contains_key(name)
    }

    /// Removes and returns the field `name`, if it is present.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.left.remove(name)
    }

    /// Returns the error for the field `name` with the wrong value `found`.
    pub(crate) fn wrong(&self, name: &str, found: &Value, expected: &str) -> ApiError {
        let name = self.name(name);
        let message = format!("{name:?}: found {}, expected {expected}", kind(found));
        ApiError::field(&name, message)
    }

    /// Returns the error for the field `name`, which is missing.
    pub(crate) fn missing(&self, name: &str) -> ApiError {
        let name = self.name(name);
        ApiError::field(&name, format!("{name:?} is missing"))
    }

    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, &other, "a string")),
        }
    }

    pub(crate) fn flag(&mut self, name: &str) -> Result<Option<bool>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(self.wrong(name, &other, "true or false")),
        }
    }

    /// Removes and returns the field `name`, if present. Its value must be a number that `valid`
    /// accepts. `expected` describes such numbers in the error message.
    pub(crate) fn number(
        &mut self,
        name: &str,
        valid: impl Fn(f64) -> bool,
        expected: &str,
    ) -> Result<Option<f32>, ApiError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match value.as_f64().filter(|&x| valid(x)) {
            Some(x) => Ok(Some(x as f32)),
            None => Err(self.wrong(name, &value, expected)),
        }
    }

    /// Removes and returns the field `name`, if present. It must be a whole number within `range`.
    pub(crate) fn whole(
        &mut self,
        name: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, ApiError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let found = value.as_u64().filter(|n| range.contains(n));
        found.map(Some).ok_or_else(|| match (range.start(), range.end()) {
            (first, &u64::MAX) => {
                self.wrong(name, &value, &format!("a whole number of at least {first}"))
            }
            (first, last) => {
                self.wrong(name, &value, &format!("a whole number from {first} to {last}"))
            }
        })
    }

    /// Returns an error that names a field that was not removed, if there is one.
    pub(crate) fn end(self) -> Result<(), ApiError> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => Err(ApiError::unknown(&self.name(name))),
        }
    }
}

/// Describes a value for an error message: a string, an array or an object by its type, any other
/// value as it is.
pub(crate) fn kind(value: &Value) -> String {
    match value {
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    }
}
