//! The chat template: a Jinja program in the model folder or the GGUF file. It turns messages into
//! text in the format that the model was trained on.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Result, anyhow};
use minijinja::{Environment, Error, ErrorKind, context, value::Kwargs};
use serde_json::Value;

use crate::{
    chat::Message,
    gguf::{
        Array, Metadata,
        convert::{template_source, tokenizer_config},
    },
};

/// A model's chat template, rendered in the same way as by `apply_chat_template` of transformers.
pub struct ChatTemplate {
    environment: Environment<'static>,
    source: String,
    file: String,
    /// The template's variables for special tokens (`bos_token`, `eos_token` …), with their texts.
    special_tokens: BTreeMap<String, String>,
}

impl ChatTemplate {
    /// Reads `chat_template.jinja`, or else the field `chat_template` of `tokenizer_config.json`.
    /// Returns `None` if there is neither. Of several templates in the field, uses `default`.
    ///
    /// # Errors
    /// If a file cannot be read, or the template's syntax is wrong.
    pub fn from_folder(folder: &Path) -> Result<Option<Self>> {
        let (config, _) = tokenizer_config(folder)?;
        let Some((source, file)) = template_source(folder)? else { return Ok(None) };
        Self::new(source, special_tokens(&config), file).map(Some)
    }

    /// Returns the template of a GGUF file, or `None` if it has none. The metadata names the
    /// special tokens that become variables of the template (`bos_token`, `eos_token` …).
    ///
    /// # Errors
    /// If the template's syntax is wrong, or a named token does not exist.
    pub fn from_gguf(metadata: &Metadata) -> Result<Option<Self>> {
        let Some(source) = metadata.text("tokenizer.chat_template")? else { return Ok(None) };
        let mut special_tokens = BTreeMap::new();
        for (variable, name) in [
            ("bos_token", "bos"),
            ("eos_token", "eos"),
            ("unk_token", "unknown"),
            ("pad_token", "padding"),
        ] {
            let key = format!("tokenizer.ggml.{name}_token_id");
            let Some(id) = metadata.size(&key)? else { continue };
            let token = match metadata.array("tokenizer.ggml.tokens")? {
                Some(Array::String(tokens)) => tokens.get(id),
                _ => None,
            };
            let token = token.ok_or_else(|| metadata.wrong(&key, "a token of the vocabulary"))?;
            special_tokens.insert(variable.to_owned(), token.clone());
        }
        Self::new(source.to_owned(), special_tokens, metadata.file().to_owned()).map(Some)
    }

    /// Creates a template from its text. `special_tokens` are variables of the template
    /// (`bos_token`, `eos_token`). `file` is the name of the text's file, for error messages.
    ///
    /// # Errors
    /// If the template's syntax is wrong.
    pub fn new(
        source: String,
        special_tokens: BTreeMap<String, String>,
        file: String,
    ) -> Result<Self> {
        let template = Self { environment: environment(), source, file, special_tokens };
        template.environment.template_from_str(&template.source).map_err(|e| template.wrong(&e))?;
        Ok(template)
    }

    /// Returns the text of a chat. With `add_generation_prompt`, the text ends where the
    /// assistant's answer begins.
    ///
    /// Encode the text with [`Tokenizer::encode`](super::Tokenizer::encode), which adds no tokens:
    /// if the model needs a token at the beginning, the template has already written it.
    ///
    /// # Errors
    /// If the template rejects these messages (two from the same role in a row, for example).
    pub fn render(&self, messages: &[Message], add_generation_prompt: bool) -> Result<String> {
        self.render_with(messages, &(), add_generation_prompt)
    }

    /// Like [`ChatTemplate::render`], with `tools`: the definitions of the tools that the model may
    /// call, as the client sent them. Pass `()` for none.
    ///
    /// # Errors
    /// If the template rejects these messages.
    pub fn render_with(
        &self,
        messages: &[Message],
        tools: &impl serde::Serialize,
        add_generation_prompt: bool,
    ) -> Result<String> {
        let tools = minijinja::Value::from_serialize(tools);
        let messages: Vec<_> =
            messages.iter().map(|m| context! { role => m.role, content => m.content }).collect();
        let special_tokens = minijinja::Value::from_serialize(&self.special_tokens);
        let variables =
            context! { messages, add_generation_prompt, tools, documents => (), ..special_tokens };
        let template =
            self.environment.template_from_str(&self.source).map_err(|e| self.wrong(&e))?;
        template.render(variables).map_err(|e| self.wrong(&e))
    }

    /// Returns whether the template's source contains `text`.
    #[must_use]
    pub fn mentions(&self, text: &str) -> bool {
        self.source.contains(text)
    }

    fn wrong(&self, error: &Error) -> anyhow::Error {
        anyhow!("{}: chat template: {}", self.file, error.to_string().replace('\n', " "))
    }
}

/// Returns the fields whose names end in `_token`, such as `bos_token`. Each value is either a
/// string, or an object with the string as `content`.
fn special_tokens(config: &Value) -> BTreeMap<String, String> {
    let fields = config.as_object().into_iter().flatten();
    let tokens = fields.filter(|(field, _)| field.ends_with("_token"));
    tokens
        .filter_map(|(field, value)| {
            Some((field.clone(), value.as_str().or(value["content"].as_str())?.to_owned()))
        })
        .collect()
}

/// Returns a Jinja environment set up as in transformers: with Python's methods on strings and
/// lists, and the functions that templates on the hub call.
fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_filter("tojson", to_json);
    environment.add_function("raise_exception", |message: String| -> Result<String, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_function("strftime_now", |format: String| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        strftime(&format, now)
    });
    environment
}

/// Converts a value to JSON like Python's `json.dumps(value, ensure_ascii=False, indent=indent)`.
/// Without `indent`, there are spaces after commas and colons. Nothing is escaped for HTML.
fn to_json(value: &minijinja::Value, options: Kwargs) -> Result<String, Error> {
    let indent: Option<usize> = options.get("indent")?;
    if options.get::<Option<bool>>("ensure_ascii")? == Some(true) {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            "tojson: ensure_ascii=true is not supported",
        ));
    }
    options.assert_all_used()?;
    let failed = |e: serde_json::Error| Error::new(ErrorKind::BadSerialization, e.to_string());
    let mut json = Vec::new();
    match indent {
        None => {
            let mut serializer = serde_json::Serializer::with_formatter(&mut json, OneLine);
            serde::Serialize::serialize(value, &mut serializer).map_err(failed)?;
        }
        Some(width) => {
            let spaces = " ".repeat(width);
            let formatter = serde_json::ser::PrettyFormatter::with_indent(spaces.as_bytes());
            serde::Serialize::serialize(
                value,
                &mut serde_json::Serializer::with_formatter(&mut json, formatter),
            )
            .map_err(failed)?;
        }
    }
    Ok(String::from_utf8(json).expect("serde_json writes UTF-8"))
}

/// A JSON formatter with Python's default separators.
struct OneLine;

impl serde_json::ser::Formatter for OneLine {
    fn begin_array_value<W: ?Sized + std::io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(
        &mut self,
        out: &mut W,
    ) -> std::io::Result<()> {
        out.write_all(b": ")
    }
}

/// Formats a time like Python's `strftime`, for the directives in chat templates. The time is in
/// UTC, because the standard library supports no other zone. Unknown directives are copied
/// unchanged.
fn strftime(format: &str, seconds_since_1970: u64) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    const DAYS: [&str; 7] =
        ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
    let (days, time) = (seconds_since_1970 / 86_400, seconds_since_1970 % 86_400);
    let (year, month, day) = date(days);
    let weekday = DAYS[(days % 7) as usize];
    let month_name = MONTHS[month as usize - 1];

    let mut out = String::new();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        out += before;
        let length = after.chars().next().map_or(0, char::len_utf8);
        let (directive, after) = after.split_at(length);
        out += &match directive {
            "Y" => year.to_string(),
            "y" => format!("{:02}", year % 100),
            "m" => format!("{month:02}"),
            "d" => format!("{day:02}"),
            "H" => format!("{:02}", time / 3600),
            "M" => format!("{:02}", time / 60 % 60),
            "S" => format!("{:02}", time % 60),
            "B" => month_name.to_owned(),
            "b" => month_name[..3].to_owned(),
            "A" => weekday.to_owned(),
            "a" => weekday[..3].to_owned(),
            "%" => "%".to_owned(),
            other => format!("%{other}"),
        };
        rest = after;
    }
    out + rest
}

/// Returns the year, month and day of the date `days` days after 1 January 1970. Subtracts whole
/// years, then whole months.
fn date(mut days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    (year, month as u64 + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use super::strftime;

    #[test]
    fn strftime_matches_python() {
        // datetime.fromtimestamp(t, timezone.utc).strftime(…)
        let all = "%d %b %Y|%Y-%m-%d|%A %a %B|%H:%M:%S|%y%%";
        assert_eq!(strftime(all, 0), "01 Jan 1970|1970-01-01|Thursday Thu January|00:00:00|70%");
        assert_eq!(
            strftime(all, 951_827_696),
            "29 Feb 2000|2000-02-29|Tuesday Tue February|12:34:56|00%"
        );
        assert_eq!(
            strftime(all, 1_798_761_599),
            "31 Dec 2026|2026-12-31|Thursday Thu December|23:59:59|26%"
        );
        assert_eq!(strftime("50%", 0), "50%");
    }
}
