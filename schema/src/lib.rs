//! What an answer has to be: a value of a JSON Schema, or a call of one of several tools. Which
//! bytes may follow, and the shortest way to an end.
//!
//! A schema is read (`read`, `keywords`) into kinds of values that refer to each other (`node`);
//! what is not supported is [`Refused`] by its name and place. Scalars, strings with a pattern and
//! keys become automata without a choice (`pattern`, `number`, by way of `nfa` and `dfa`); objects,
//! arrays and what refers to itself take a stack (`automaton`).
//!
//! **How answers are written.** Properties in the order of the schema, those that it doesn't name
//! behind them. No space, but that one blank may stand behind a comma and behind a colon. Keys,
//! values of `enum` and `const`, and strings with a pattern or a format in their shortest spelling;
//! other strings in any. Numbers as everywhere here: 15 digits on each side of the point and two in
//! the exponent; with a bound, 15 altogether and no exponent; whole ones without a point. An array
//! or object within 64 others takes the shortest way out.
//!
//! **What is read.** `type`, also several; `properties`, `required`, `additionalProperties`;
//! `items`, `minItems`, `maxItems`; `minLength` and `maxLength`, in characters; `pattern`; `format`
//! date and uuid; `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf` of
//! whole numbers; `enum`, `const`; `anyOf`; `oneOf` where its branches cannot both fit; `allOf` of
//! one; `$ref` within the document, `$defs`. What only describes (`title`, `default` and the like)
//! is passed over. Everything else is refused.
//!
//! [`prices`] says what each token of a vocabulary costs behind a state, of these automata or any.

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

use std::fmt;

pub use automaton::{MOST_DEPTH, Position};
pub use json::Json;
pub use read::Refused;

use automaton::Automaton;
use node::{Node, Object, Property};
use read::Reader;

/// A schema is no longer than this, in bytes.
pub const MOST_BYTES: usize = 65_536;
/// Tools of a request.
pub const MOST_TOOLS: usize = 128;

/// Something that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// What it's called.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// The schema of what it takes; none is an object without properties.
    pub parameters: Option<Json>,
}

/// How a model writes that it calls a tool: `{"name": …, "arguments": …}` between these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Before it.
    pub open: &'static str,
    /// Behind it.
    pub close: &'static str,
}

impl Style {
    /// The object and nothing else, as the embedded model has it.
    pub const PLAIN: Self = Self { open: "", close: "" };
    /// As Qwen and Hermes have it.
    pub const TAGS: Self = Self { open: "<tool_call>\n", close: "\n</tool_call>" };
}

/// What an answer has to be.
pub struct Shape {
    automaton: Automaton,
    style: Style,
    /// Whether the answer may be any text that does not begin a call.
    free: bool,
    /// Whether another call may follow a call, in the next line.
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

/// All that matters of the bytes so far.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State(At);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum At {
    /// Before the answer, which may be a text or a call.
    Begin,
    /// In a text, behind so many bytes of what would begin a call.
    Free(usize),
    /// In a text that can begin no call any more.
    Text,
    /// In what stands before a call.
    Open(usize),
    /// In the value.
    Value(Position),
    /// In what stands behind a call.
    Close(usize),
    /// Behind the line feed between two calls.
    Between,
}

impl Shape {
    /// Values of a schema.
    ///
    /// # Errors
    /// If it is no schema, or says something that is not supported.
    pub fn of_schema(schema: &Json) -> Result<Self, Refused> {
        let name = named(schema, "")?;
        let mut reader = Reader::new();
        let root = reader.document(schema, "")?;
        Self::new(reader, root, Style::PLAIN, false, name)
    }

    /// Reads a schema's text, too.
    ///
    /// # Errors
    /// If it is no schema, or says something that is not supported.
    pub fn of_text(text: &[u8]) -> Result<Self, Refused> {
        let schema = Json::parse(text).map_err(|e| outermost(format!("it is not JSON: {e}")))?;
        Self::of_schema(&schema)
    }

    /// A call of one of these tools; if `free`, or any text that is none.
    ///
    /// # Errors
    /// If there are none or too many, two have one name, or the schema of one is refused; its
    /// pointer then begins with `/tools/0/function/parameters`, as requests have it.
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
                        let problem = "expected \"type\": \"object\": arguments have names";
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

    /// The same, where calls may follow a call, each in a line of its own.
    #[must_use]
    pub fn several(mut self) -> Self {
        self.several = true;
        self.name.push_str("\nseveral");
        self
    }

    /// What it is made of: shapes of one name are the same.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many places its automata have.
    #[must_use]
    pub fn places(&self) -> usize {
        self.automaton.len()
    }

    /// What would begin a call in a text.
    fn trigger(&self) -> &'static [u8] {
        self.style.open.trim_end().as_bytes()
    }

    /// Before the first byte.
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

    /// After one more byte; `None` if no answer goes on like this.
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

    /// Behind `count` bytes of what would begin a call, and one more byte of a text.
    fn in_text(&self, count: usize, byte: u8) -> At {
        let trigger = self.trigger();
        let mut seen = trigger[..count].to_vec();
        seen.push(byte);
        let from = (0..=seen.len()).find(|&from| trigger.starts_with(&seen[from..]));
        let count = seen.len() - from.unwrap_or(seen.len());
        if count == trigger.len() { self.opened(count) } else { At::Free(count) }
    }

    /// Whether these are calls behind which another one may come.
    fn may_repeat(&self, state: &State) -> bool {
        self.several && self.is_ended(state)
    }

    /// Whether a call ends here, or a value that nothing may follow.
    fn is_ended(&self, state: &State) -> bool {
        match &state.0 {
            At::Value(position) => self.automaton.is_over(position),
            At::Close(count) => *count == self.style.close.len(),
            _ => false,
        }
    }

    /// Whether the bytes so far are an answer.
    #[must_use]
    pub fn is_complete(&self, state: &State) -> bool {
        match &state.0 {
            At::Begin | At::Free(_) | At::Text | At::Between => true,
            At::Open(_) => false,
            At::Value(position) => self.automaton.is_complete(position),
            At::Close(count) => *count == self.style.close.len(),
        }
    }

    /// Whether they are one, and nothing may follow.
    #[must_use]
    pub fn is_over(&self, state: &State) -> bool {
        !self.several && self.is_ended(state)
    }

    /// A shortest text that makes an answer of the bytes so far. Behind its first byte, it is the
    /// rest of the same text.
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

    /// Whether these bytes are an answer.
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

/// A schema as a name for what is made of it.
fn named(schema: &Json, pointer: &str) -> Result<String, Refused> {
    let name = schema.to_string();
    if name.len() > MOST_BYTES {
        let problem = format!("found {} bytes, expected {MOST_BYTES} at most", name.len());
        return Err(Refused { pointer: pointer.to_owned(), problem });
    }
    Ok(name)
}
