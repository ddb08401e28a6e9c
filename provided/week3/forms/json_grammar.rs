//! JSON as a grammar.

use crate::week3::{
    grammar::Grammar,
    json::{JsonState, Place},
    whole::closing_byte,
};

/// The grammar of any JSON value, or of any object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Json {
    /// Any value.
    Value,
    /// Any object. Clients that request JSON expect an object.
    Object,
}

impl Grammar for Json {
    type State = JsonState;

    fn start(&self) -> JsonState {
        match self {
            Self::Value => JsonState::value(),
            Self::Object => JsonState::object(),
        }
    }

    fn next(&self, state: &JsonState, byte: u8) -> Option<JsonState> {
        state.next(byte)
    }

    fn is_complete(&self, state: &JsonState) -> bool {
        state.is_complete()
    }

    fn is_over(&self, state: &JsonState) -> bool {
        state.place == Place::End && state.depth() == 0
    }

    fn closing_byte(&self, state: &JsonState) -> Option<u8> {
        closing_byte(state)
    }
}
