//! The key-value pairs of a GGUF file, with getters whose errors describe what is wrong.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow, bail};

use crate::json::shortened;

/// A metadata value. Names and order of the variants follow the format's type numbers 0 to 12.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Value {
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    F32(f32),
    Bool(bool),
    String(String),
    Array(Array),
    U64(u64),
    I64(i64),
    F64(f64),
}

/// An array, whose elements all have one type. A vocabulary is an array of tens of thousands of
/// elements or more, so elements are not stored as `Value`s.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Array {
    U8(Vec<u8>),
    I8(Vec<i8>),
    U16(Vec<u16>),
    I16(Vec<i16>),
    U32(Vec<u32>),
    I32(Vec<i32>),
    F32(Vec<f32>),
    Bool(Vec<bool>),
    String(Vec<String>),
    U64(Vec<u64>),
    I64(Vec<i64>),
    F64(Vec<f64>),
}

impl Array {
    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::U8(v) => v.len(),
            Self::I8(v) => v.len(),
            Self::U16(v) => v.len(),
            Self::I16(v) => v.len(),
            Self::U32(v) => v.len(),
            Self::I32(v) => v.len(),
            Self::F32(v) => v.len(),
            Self::Bool(v) => v.len(),
            Self::String(v) => v.len(),
            Self::U64(v) => v.len(),
            Self::I64(v) => v.len(),
            Self::F64(v) => v.len(),
        }
    }

    /// Returns whether the array is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// All metadata of a file, by key, with the file's name for error messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Metadata {
    file: String,
    values: BTreeMap<String, Value>,
}

impl Metadata {
    /// Creates empty metadata. `file` is the file's name in error messages.
    #[must_use]
    pub fn new(file: &str) -> Self {
        Self { file: file.to_owned(), values: BTreeMap::new() }
    }

    /// Adds a value, and returns whether the key was new.
    pub fn insert(&mut self, key: &str, value: Value) -> bool {
        self.values.insert(key.to_owned(), value).is_none()
    }

    /// Returns the value of a key, or `None` if the key is missing.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    /// Returns the file's name, as shown in error messages.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns every key with its value, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns the value of a key as a non-negative integer, whatever integer type is stored.
    /// Returns `None` if the key is missing.
    ///
    /// # Errors
    /// If the value has a different type or is negative.
    pub fn size(&self, key: &str) -> Result<Option<usize>> {
        let number = match self.get(key) {
            None => return Ok(None),
            Some(Value::U8(n)) => Some(u64::from(*n)),
            Some(Value::U16(n)) => Some(u64::from(*n)),
            Some(Value::U32(n)) => Some(u64::from(*n)),
            Some(Value::U64(n)) => Some(*n),
            Some(Value::I8(n)) => u64::try_from(*n).ok(),
            Some(Value::I16(n)) => u64::try_from(*n).ok(),
            Some(Value::I32(n)) => u64::try_from(*n).ok(),
            Some(Value::I64(n)) => u64::try_from(*n).ok(),
            Some(_) => None,
        };
        let number = number.and_then(|n| usize::try_from(n).ok());
        number.map(Some).ok_or_else(|| self.wrong(key, "a whole number of at least 0"))
    }

    /// Returns the value of a key as a floating-point number, or `None` if the key is missing.
    ///
    /// # Errors
    /// If the value has a different type.
    pub fn float(&self, key: &str) -> Result<Option<f32>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::F32(x)) => Ok(Some(*x)),
            Some(Value::F64(x)) => Ok(Some(*x as f32)),
            Some(_) => Err(self.wrong(key, "a floating-point number")),
        }
    }

    /// Returns the value of a key as a boolean, or `None` if the key is missing.
    ///
    /// # Errors
    /// If the value has a different type.
    pub fn flag(&self, key: &str) -> Result<Option<bool>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(x)) => Ok(Some(*x)),
            Some(_) => Err(self.wrong(key, "true or false")),
        }
    }

    /// Returns the value of a key as a text, or `None` if the key is missing.
    ///
    /// # Errors
    /// If the value has a different type.
    pub fn text(&self, key: &str) -> Result<Option<&str>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(key, "a text")),
        }
    }

    /// Returns the value of a key as an array, or `None` if the key is missing.
    ///
    /// # Errors
    /// If the value has a different type.
    pub fn array(&self, key: &str) -> Result<Option<&Array>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Array(array)) => Ok(Some(array)),
            Some(_) => Err(self.wrong(key, "an array")),
        }
    }

    /// Returns the value of a key that must be present. `value` is the result of a getter for this
    /// key, such as [`Metadata::size`].
    ///
    /// # Errors
    /// If `value` is `None`, that is, the key is missing. If `value` is an error, returns that
    /// error.
    pub fn required<T>(&self, key: &str, value: Result<Option<T>>) -> Result<T> {
        match value? {
            Some(value) => Ok(value),
            None => bail!("{}: metadata {key}: found nothing, expected a value", self.file),
        }
    }

    /// Returns an error about the value of a key. It names the file, the key, what was found and
    /// what was expected.
    #[must_use]
    pub fn wrong(&self, key: &str, expected: &str) -> anyhow::Error {
        let found = self.get(key).map_or_else(|| "nothing".to_owned(), describe);
        anyhow!("{}: metadata {key}: found {found}, expected {expected}", self.file)
    }
}

/// Describes a value for a message. Long values are shortened.
fn describe(value: &Value) -> String {
    match value {
        Value::Array(array) => format!("an array of length {}", array.len()),
        other => shortened(format!("{other:?}"), 60),
    }
}
