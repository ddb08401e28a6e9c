//! Parses JSON. Objects keep the order of their keys, because answers use the same order.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::Number;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(String),
    /// `[…]`
    List(Vec<Json>),
    /// `{…}`, its keys and values in the order of the text. No key occurs twice.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses a text.
    ///
    /// # Errors
    /// If it is not JSON, or an object has the same key twice.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(text).map_err(|e| e.to_string())
    }

    /// Returns the value of an object's field, or `None` if there is no such field.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(fields) = self else { return None };
        fields.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the value at a JSON pointer, such as `/properties/name`.
    #[must_use]
    pub fn at(&self, pointer: &str) -> Option<&Self> {
        let mut steps = pointer.split('/');
        if steps.next() != Some("") {
            return None;
        }
        steps.try_fold(self, |value, step| match value {
            Self::Object(_) => value.get(&step.replace("~1", "/").replace("~0", "~")),
            Self::List(all) => all.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Describes the value for an error message.
    #[must_use]
    pub fn kind(&self) -> String {
        match self {
            Self::Text(_) => "a string".to_owned(),
            Self::List(_) => "an array".to_owned(),
            Self::Object(_) => "an object".to_owned(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(flag) => to.serialize_bool(*flag),
            Self::Number(number) => number.serialize(to),
            Self::Text(text) => to.serialize_str(text),
            Self::List(all) => to.collect_seq(all),
            Self::Object(fields) => to.collect_map(fields.iter().map(|(key, value)| (key, value))),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Json, E> {
        Ok(Json::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Json, E> {
        Number::from_f64(number).map(Json::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(value) = from.next_element()? {
            all.push(value);
        }
        Ok(Json::List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut fields: Vec<(String, Json)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some((key, value)) = from.next_entry::<String, Json>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format!("found the key {key:?} twice")));
            }
            fields.push((key, value));
        }
        Ok(Json::Object(fields))
    }
}
