//! Tables of a TOML file. The caller takes the fields one by one. An error names the field, and the
//! fields that were not taken can be listed.

use anyhow::{Context, Result, bail};
use toml::{Table, Value};

/// A table of a TOML file. A method that returns a field also removes it from the table.
#[derive(Debug)]
pub(crate) struct Fields {
    /// Prefix of field names in messages: `week.0.day.2.`.
    place: String,
    table: Table,
}

impl Fields {
    /// Parses a whole file.
    ///
    /// # Errors
    /// If the file is not TOML.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        Ok(Self { place: String::new(), table: text.parse()? })
    }

    /// Returns the text of a required field.
    pub(crate) fn text(&mut self, name: &str) -> Result<String> {
        self.optional_text(name)?.with_context(|| format!("missing field {}{name}", self.place))
    }

    /// Returns the text of an optional field.
    pub(crate) fn optional_text(&mut self, name: &str) -> Result<Option<String>> {
        match self.table.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => bail!(self.kind(name, &other, "text")),
        }
    }

    /// Returns a required number, which must not be negative.
    pub(crate) fn number(&mut self, name: &str) -> Result<usize> {
        let found = self.table.remove(name);
        let found = found.with_context(|| format!("missing field {}{name}", self.place))?;
        let number = found.as_integer().and_then(|number| usize::try_from(number).ok());
        number.with_context(|| self.kind(name, &found, "a number"))
    }

    /// Returns an optional number, which must not be negative.
    pub(crate) fn optional_number(&mut self, name: &str) -> Result<Option<usize>> {
        if self.table.contains_key(name) { self.number(name).map(Some) } else { Ok(None) }
    }

    /// Returns a list of texts. The list is empty if the field is absent.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Vec<String>> {
        let values = self.list(name)?;
        let of = |value: Value| match value {
            Value::String(text) => Ok(text),
            other => bail!(self.kind(name, &other, "texts")),
        };
        values.into_iter().map(of).collect()
    }

    /// Returns a list of tables. The list is empty if the field is absent.
    pub(crate) fn tables(&mut self, name: &str) -> Result<Vec<Self>> {
        let values = self.list(name)?;
        let of = |(i, value): (usize, Value)| match value {
            Value::Table(table) => Ok(Self { place: format!("{}{name}.{i}.", self.place), table }),
            other => bail!(self.kind(name, &other, "tables")),
        };
        values.into_iter().enumerate().map(of).collect()
    }

    fn list(&mut self, name: &str) -> Result<Vec<Value>> {
        match self.table.remove(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(values)) => Ok(values),
            Some(other) => bail!(self.kind(name, &other, "a list")),
        }
    }

    /// Returns the fields that have not been taken, as `week.0.day.2.colour`.
    pub(crate) fn rest(self) -> impl Iterator<Item = String> {
        let place = self.place;
        self.table.into_iter().map(move |(name, _)| format!("{place}{name}"))
    }

    fn kind(&self, name: &str, found: &Value, expected: &str) -> String {
        format!("{}{name}: found {}, expected {expected}", self.place, found.type_str())
    }
}
