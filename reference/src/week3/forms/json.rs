//! Day 7. Checks JSON byte by byte, with a stack of open brackets, and decides which bytes may come
//! next.
//!
//! Tasks here: week3-day7 task 2 (`JsonState::next`, `JsonState::is_complete`). Everything else is
//! provided.

use super::scalar::{Number, Text};

/// Maximum depth of nested objects and arrays. A stack of this depth fits into a 64-bit integer,
/// and every JSON parser accepts this depth.
pub const MOST_DEPTH: usize = 64;

/// The kind of an open bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Container {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
}

/// The place in a JSON text where the next byte will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// At the start of a text that must be an object. `{` follows.
    Root,
    /// Before a value.
    Value,
    /// After `[`. A value or the end of the array follows.
    FirstValue,
    /// After `{`. A key or the end of the object follows.
    FirstKey,
    /// After the comma of an object. A key follows.
    Key,
    /// In a key.
    KeyText(Text),
    /// After a key. A colon follows.
    Colon,
    /// In a string that is a value.
    ValueText(Text),
    /// In a number.
    Number(Number),
    /// In `true`, `false` or `null`. Holds the bytes that must still follow, at least one.
    Word(&'static [u8]),
    /// After a value. A comma or a closing bracket follows. After the outermost value, only white
    /// space follows.
    End,
}

/// The state after the first bytes of a JSON text. It holds everything that decides which bytes may
/// follow: the place, and which objects and arrays are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct JsonState {
    /// The place that the text has reached.
    pub place: Place,
    /// Number of open objects and arrays.
    depth: u8,
    /// Bit `i` is 1 if open bracket `i` belongs to an object. Bracket 0 is the outermost. The bits
    /// from `depth` on are 0, so that equal states compare as equal.
    objects: u64,
}

impl JsonState {
    /// Returns the state at the start of a text that may be any JSON value.
    #[must_use]
    pub fn value() -> Self {
        Self { place: Place::Value, depth: 0, objects: 0 }
    }

    /// Returns the state at the start of a text that must be an object.
    #[must_use]
    pub fn object() -> Self {
        Self { place: Place::Root, ..Self::value() }
    }

    /// Returns how many objects and arrays are open.
    #[must_use]
    pub fn depth(self) -> usize {
        self.depth.into()
    }

    /// Returns the kind of the innermost open bracket, or `None` if no bracket is open.
    #[must_use]
    pub fn within(self) -> Option<Container> {
        let last = self.depth.checked_sub(1)?;
        let object = self.objects >> last & 1 == 1;
        Some(if object { Container::Object } else { Container::Array })
    }

    /// Returns this state with its place replaced by `place`.
    #[must_use]
    pub fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// Returns the state after an opening bracket of the kind `container`. Returns `None` if
    /// [`MOST_DEPTH`] brackets are already open.
    #[must_use]
    pub fn open(self, container: Container) -> Option<Self> {
        let (object, place) = match container {
            Container::Object => (1, Place::FirstKey),
            Container::Array => (0, Place::FirstValue),
        };
        (self.depth() < MOST_DEPTH).then(|| Self {
            place,
            depth: self.depth + 1,
            objects: self.objects | object << self.depth,
        })
    }

    /// Returns the state after the closing bracket that matches the innermost open one.
    ///
    /// # Panics
    /// If no bracket is open.
    #[must_use]
    pub fn close(self) -> Self {
        let last = self.depth.checked_sub(1).expect("something is open");
        Self { place: Place::End, depth: last, objects: self.objects & !(1 << last) }
    }

    /// Returns the state after one more byte, or `None` if this byte may not come next.
    ///
    /// White space is a space, a tab, a line feed or a carriage return.
    /// - It may come before and after every value, key, comma, colon and bracket, also in `[ ]`.
    /// - It may not come in the middle of a number or a word.
    /// - It ends a complete number. Otherwise, it leaves the place unchanged.
    /// - In a string, a space is a character, and the other three are forbidden.
    #[must_use]
    pub fn next(self, byte: u8) -> Option<Self> {
        // SOLUTION week3-day7 task 2
        match self.place {
            Place::KeyText(text) => Some(match text.next(byte)? {
                Text::Closed => self.at(Place::Colon),
                text => self.at(Place::KeyText(text)),
            }),
            Place::ValueText(text) => Some(match text.next(byte)? {
                Text::Closed => self.at(Place::End),
                text => self.at(Place::ValueText(text)),
            }),
            Place::Word([first, rest @ ..]) => (byte == *first)
                .then(|| self.at(if rest.is_empty() { Place::End } else { Place::Word(rest) })),
            Place::Number(number) => match number.next(byte) {
                Some(number) => Some(self.at(Place::Number(number))),
                // A number ends before the first byte that can't be part of it.
                None if number.is_complete() => self.at(Place::End).next(byte),
                None => None,
            },
            _ if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => Some(self),
            Place::Root if byte == b'{' => self.open(Container::Object),
            Place::FirstValue if byte == b']' => Some(self.close()),
            Place::Value | Place::FirstValue => begin_value(self, byte),
            Place::FirstKey if byte == b'}' => Some(self.close()),
            Place::FirstKey | Place::Key if byte == b'"' => {
                Some(self.at(Place::KeyText(Text::Plain)))
            }
            Place::Colon if byte == b':' => Some(self.at(Place::Value)),
            Place::End => match (self.within()?, byte) {
                (Container::Object, b',') => Some(self.at(Place::Key)),
                (Container::Array, b',') => Some(self.at(Place::Value)),
                (Container::Object, b'}') | (Container::Array, b']') => Some(self.close()),
                _ => None,
            },
            _ => None,
        }
        // END SOLUTION
    }

    /// Returns whether the bytes so far are a complete JSON text.
    #[must_use]
    pub fn is_complete(self) -> bool {
        // SOLUTION week3-day7 task 2
        let ended = match self.place {
            Place::End => true,
            Place::Number(number) => number.is_complete(),
            _ => false,
        };
        ended && self.depth == 0
        // END SOLUTION
    }
}

// SOLUTION week3-day7 task 2 (helper)
/// Returns the state after the first byte of a value, or `None` if no value begins with this byte.
fn begin_value(state: JsonState, byte: u8) -> Option<JsonState> {
    match byte {
        b'{' => state.open(Container::Object),
        b'[' => state.open(Container::Array),
        b'"' => Some(state.at(Place::ValueText(Text::Plain))),
        b't' => Some(state.at(Place::Word(b"rue"))),
        b'f' => Some(state.at(Place::Word(b"alse"))),
        b'n' => Some(state.at(Place::Word(b"ull"))),
        _ => Some(state.at(Place::Number(Number::Start.next(byte)?))),
    }
}
// END SOLUTION
