//! Constrains answers to values that match a JSON Schema, or to calls of given tools. Computes
//! which bytes may follow an unfinished answer, and which shortest text completes it.
//!
//! A schema is parsed (`read`, `keywords`) into kinds of values that refer to each other (`node`).
//! Unsupported keywords are [`Refused`], with name and position. Scalars, keys and strings with a
//! pattern become deterministic automata (`pattern`, `number`, via `nfa` and `dfa`). Objects,
//! arrays and recursive kinds use a stack (`stack`, `automaton`).
//!
//! **Format of answers.** Properties are in the order of the schema. Properties that the schema
//! does not list come after them. There are no spaces, except an optional one after a comma or a
//! colon. Keys, values of `enum` and `const`, and strings with a pattern or a format have their
//! shortest spelling. Other strings may have any spelling. Numbers have at most 15 digits on each
//! side of the point and two in the exponent. Numbers with a bound have at most 15 digits in total
//! and no exponent. Numbers of the type `integer` have neither point nor exponent. If an array or
//! object is nested in 64 others, all bytes in it are those of the shortest completion, except
//! within keys, strings and numbers.
//!
//! **Supported keywords.** For all values: `type` (one or several), `enum`, `const`, `anyOf`,
//! `allOf` with one entry, `oneOf` if it is certain that no value matches two branches, `$ref`
//! within the document, and `$defs`. For objects: `properties`, `required` and
//! `additionalProperties`. For arrays: `items`, `minItems` and `maxItems`. For strings: `pattern`,
//! `format` (`date`, `time`, `date-time`, `uuid`, `email`, `ipv4`), and `minLength` and
//! `maxLength`, in characters. For numbers: `minimum`, `maximum`, `exclusiveMinimum`,
//! `exclusiveMaximum`, and `multipleOf` of whole numbers. Annotations (`title`, `default` and so
//! on) are ignored. Everything else is refused.
//!
//! [`prices`] computes the price of each token of a vocabulary after a state: the number of tokens
//! that the answer still needs after that token.

mod automaton;
mod dfa;
mod json;
mod keywords;
mod nfa;
mod node;
mod number;
mod pattern;
pub mod prices;
mod read;
mod stack;
mod string_format;

use std::fmt;

pub use automaton::{MOST_DEPTH, Position};
pub use json::Json;
pub use read::Refused;

use automaton::Automaton;
use node::{Node, Object, Property};
use read::Reader;

/// Maximum length of a schema in bytes.
pub const MOST_BYTES: usize = 65_536;
/// Maximum number of tools in a request.
pub const MOST_TOOLS: usize = 128;

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The tool's name.
    pub name: String,
    /// What the tool does, for the model.
    pub description: Option<String>,
    /// Schema of the tool's parameters. `None` means an object without properties.
    pub parameters: Option<Json>,
}

/// The model's syntax of a tool call: the object `{"name": …, "arguments": …}` between two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Text before the call.
    pub open: &'static str,
    /// Text after the call.
    pub close: &'static str,
}

impl Style {
    /// Only the object, with no text around it, as the embedded model writes calls.
    pub const PLAIN: Self = Self { open: "", close: "" };
    /// The syntax of Qwen and Hermes.
    pub const TAGS: Self = Self { open: "<tool_call>\n", close: "\n</tool_call>" };
}

/// The shape of an answer: which texts are allowed.
pub struct Shape {
    automaton: Automaton,
    style: Style,
    /// Whether the answer may also be any text without a call. If [`Style::open`] is not empty, a
    /// call may follow the text. If [`Style::open`] is empty, an answer that begins with `{` is a
    /// call, and any other answer is a text.
    free: bool,
    /// Whether another call may follow a call, on the next line.
    several: bool,
    name: String,
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shape {{ {} }}", self.name)
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Shape {}

/// The state after the first bytes of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State(At);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum At {
    /// Before an answer that may be a text or a call.
    Begin,
    /// In a text that ends with this many bytes of a call's beginning.
    Free(usize),
    /// In plain text that can no longer become a tool call.
    Text,
    /// In [`Style::open`], after this many of its bytes.
    Open(usize),
    /// In the JSON value.
    Value(Position),
    /// In [`Style::close`], after this many of its bytes.
    Close(usize),
    /// After the line feed between two calls.
    Between,
}

impl Shape {
    /// Creates the shape of answers that match a schema.
    ///
    /// # Errors
    /// If the schema is invalid or unsupported.
    pub fn of_schema(schema: &Json) -> Result<Self, Refused> {
        let name = named(schema, "")?;
        let mut reader = Reader::new();
        let root = reader.document(schema, "")?;
        Self::new(reader, root, Style::PLAIN, false, name)
    }

    /// Parses a schema, then creates the shape of its answers.
    ///
    /// # Errors
    /// If the schema is invalid or unsupported.
    pub fn of_text(text: &[u8]) -> Result<Self, Refused> {
        let schema = Json::parse(text).map_err(|e| outermost(format!("it is not JSON: {e}")))?;
        Self::of_schema(&schema)
    }

    /// Creates the shape of a call of one of these tools. If `free`, any text without a call is
    /// also allowed. If [`Style::open`] is not empty, a call may then follow a text.
    ///
    /// # Errors
    /// If there are no tools or too many, if two have the same name, or if a schema is refused or
    /// lacks `"type": "object"`. For a schema of the first tool, the error's pointer begins with
    /// `/tools/0/function/parameters`, as in requests.
    pub fn of_calls(tools: &[Tool], style: Style, free: bool) -> Result<Self, Refused> {
        if tools.is_empty() || tools.len() > MOST_TOOLS {
            let problem = format!("found {} tools, expected 1 to {MOST_TOOLS}", tools.len());
            return Err(outermost(problem));
        }
        let mut reader = Reader::new();
        let (mut all, mut name) = (Vec::new(), format!("{style:?} {free}"));
        for (i, tool) in tools.iter().enumerate() {
            let pointer = format!("/tools/{i}/function/parameters");
            if tools[..i].iter().any(|other| other.name == tool.name) {
                let problem = format!("found a second tool with the name {:?}", tool.name);
                return Err(Refused { pointer: format!("/tools/{i}/function/name"), problem });
            }
            let arguments = match &tool.parameters {
                Some(schema) => {
                    name += &format!("\n{:?} {}", tool.name, named(schema, &pointer)?);
                    let id = reader.document(schema, &pointer)?;
                    let object = schema.get("type") == Some(&Json::Text("object".to_owned()));
                    if !object {
                        let problem =
                            "expected \"type\": \"object\", because arguments are an object";
                        return Err(Refused { pointer, problem: problem.to_owned() });
                    }
                    id
                }
                None => {
                    name += &format!("\n{:?}", tool.name);
                    reader.add(Node::Object(Object::default()), &pointer)
                }
            };
            let too_large = |_| outermost("its automaton becomes too large".to_owned());
            let word = reader.values(&[&Json::Text(tool.name.clone())]).map_err(too_large)?;
            let word = reader.add(word, &pointer);
            let property = |name: &str, value| {
                let name = name.to_owned();
                Property { name, value, required: true }
            };
            let properties = vec![property("name", word), property("arguments", arguments)];
            let call = Object { properties, ..Object::default() };
            all.push(reader.add(Node::Object(call), &pointer));
        }
        let root = reader.add(Node::Union(all), "");
        Self::new(reader, root, style, free, name)
    }

    fn new(
        reader: Reader,
        root: u32,
        style: Style,
        free: bool,
        name: String,
    ) -> Result<Self, Refused> {
        let nodes = reader.finish(root)?;
        let automaton = Automaton::new(nodes, root)
            .ok_or_else(|| outermost("its automaton becomes too large".to_owned()))?;
        Ok(Self { automaton, style, free, several: false, name })
    }

    /// Returns the shape with any number of calls after a call allowed, each on its own line.
    #[must_use]
    pub fn several(mut self) -> Self {
        self.several = true;
        self.name.push_str("\nseveral");
        self
    }

    /// Returns a text that identifies the shape. Shapes with equal texts are equal.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of states of the shape's automata.
    #[must_use]
    pub fn places(&self) -> usize {
        self.automaton.len()
    }

    /// Returns the bytes that begin a call in a text.
    fn trigger(&self) -> &'static [u8] {
        self.style.open.trim_end().as_bytes()
    }

    /// Returns the state before the first byte.
    #[must_use]
    pub fn start(&self) -> State {
        State(match self.free {
            true => At::Begin,
            false => self.opened(0),
        })
    }

    fn opened(&self, count: usize) -> At {
        if count < self.style.open.len() {
            At::Open(count)
        } else {
            At::Value(self.automaton.start())
        }
    }

    /// Returns the state after one more byte, or `None` if no answer continues like this.
    #[must_use]
    pub fn next(&self, state: &State, byte: u8) -> Option<State> {
        let at = match &state.0 {
            At::Begin if self.trigger().is_empty() => match byte {
                b'{' => At::Value(self.automaton.next(&self.automaton.start(), byte)?),
                _ => At::Text,
            },
            At::Begin => self.in_text(0, byte),
            At::Free(count) => self.in_text(*count, byte),
            At::Text => At::Text,
            At::Open(count) => {
                (self.style.open.as_bytes()[*count] == byte).then(|| self.opened(count + 1))?
            }
            At::Value(_) | At::Close(_) if self.may_repeat(state) && byte == b'\n' => At::Between,
            At::Value(position) => {
                let position = self.automaton.next(position, byte)?;
                if self.automaton.is_over(&position) && !self.style.close.is_empty() {
                    At::Close(0)
                } else {
                    At::Value(position)
                }
            }
            At::Between => self.next(&State(self.opened(0)), byte)?.0,
            At::Close(count) => {
                let right = self.style.close.as_bytes().get(*count) == Some(&byte);
                right.then(|| At::Close(count + 1))?
            }
        };
        Some(State(at))
    }

    /// Returns the state after `byte` in a text that ends with the first `count` bytes of a call.
    fn in_text(&self, count: usize, byte: u8) -> At {
        let trigger = self.trigger();
        let mut seen = trigger[..count].to_vec();
        seen.push(byte);
        let from = (0..=seen.len()).find(|&from| trigger.starts_with(&seen[from..]));
        let count = seen.len() - from.unwrap_or(seen.len());
        if count == trigger.len() { self.opened(count) } else { At::Free(count) }
    }

    /// Returns whether another call may follow directly.
    fn may_repeat(&self, state: &State) -> bool {
        self.several && self.is_ended(state)
    }

    /// Returns whether the last byte ended a call, or a value that cannot continue.
    fn is_ended(&self, state: &State) -> bool {
        match &state.0 {
            At::Value(position) => self.automaton.is_over(position),
            At::Close(count) => *count == self.style.close.len(),
            _ => false,
        }
    }

    /// Returns whether the bytes so far are a complete answer.
    #[must_use]
    pub fn is_complete(&self, state: &State) -> bool {
        match &state.0 {
            At::Begin | At::Free(_) | At::Text | At::Between => true,
            At::Open(_) => false,
            At::Value(position) => self.automaton.is_complete(position),
            At::Close(count) => *count == self.style.close.len(),
        }
    }

    /// Returns whether the bytes so far are complete and nothing may follow.
    #[must_use]
    pub fn is_over(&self, state: &State) -> bool {
        !self.several && self.is_ended(state)
    }

    /// Returns the shortest text that completes the bytes so far. In the state after that text's
    /// first byte, returns the rest of the same text.
    #[must_use]
    pub fn closing_text(&self, state: &State) -> Vec<u8> {
        let Style { open, close } = self.style;
        match &state.0 {
            At::Begin | At::Free(_) | At::Text | At::Between => Vec::new(),
            At::Open(count) => {
                let value = self.automaton.closing_text(&self.automaton.start());
                [&open.as_bytes()[*count..], &value, close.as_bytes()].concat()
            }
            At::Value(position) => {
                if self.automaton.is_complete(position) {
                    return close.as_bytes().to_vec();
                }
                [&self.automaton.closing_text(position), close.as_bytes()].concat()
            }
            At::Close(count) => close.as_bytes()[*count..].to_vec(),
        }
    }

    /// Returns whether these bytes are a complete answer.
    #[must_use]
    pub fn accepts(&self, text: &[u8]) -> bool {
        let mut state = self.start();
        for &byte in text {
            let Some(next) = self.next(&state, byte) else { return false };
            state = next;
        }
        self.is_complete(&state)
    }
}

impl prices::Follow for Shape {
    type State = State;

    fn next(&self, state: &State, byte: u8) -> Option<State> {
        self.next(state, byte)
    }

    fn closing_text(&self, state: &State) -> Vec<u8> {
        self.closing_text(state)
    }
}

fn outermost(problem: String) -> Refused {
    Refused { pointer: String::new(), problem }
}

/// Returns a schema's text, which identifies its compiled form. Refuses a text that is too long.
fn named(schema: &Json, pointer: &str) -> Result<String, Refused> {
    let name = schema.to_string();
    if name.len() > MOST_BYTES {
        let problem = format!("found {} bytes, expected at most {MOST_BYTES}", name.len());
        return Err(Refused { pointer: pointer.to_owned(), problem });
    }
    Ok(name)
}
