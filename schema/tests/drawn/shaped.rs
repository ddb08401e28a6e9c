//! A schema's shape as a grammar of week 3.

use std::sync::Arc;

use tiny_llm_reference::week3::grammar::Grammar;
use tiny_llm_schema::{Shape, State};

/// Adapts the shape of a schema's answers to the reference's trait [`Grammar`].
pub(crate) struct Shaped(pub(crate) Arc<Shape>);

impl Grammar for Shaped {
    type State = State;

    fn start(&self) -> State {
        self.0.start()
    }

    fn next(&self, state: &State, byte: u8) -> Option<State> {
        self.0.next(state, byte)
    }

    fn is_complete(&self, state: &State) -> bool {
        self.0.is_complete(state)
    }

    fn is_over(&self, state: &State) -> bool {
        self.0.is_over(state)
    }

    fn closing_byte(&self, state: &State) -> Option<u8> {
        self.0.closing_text(state).first().copied()
    }

    fn closing_text(&self, state: &State) -> Vec<u8> {
        self.0.closing_text(state)
    }
}
