//! Reads arbitrary bytes as a schema. After a zero byte follow the bytes of an answer.
//!
//! A schema is accepted, or rejected with an error that names the place. Each prefix that the
//! automaton accepts has a completion. After each byte of it, the rest is the new completion.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiny_llm_schema::{Json, Shape, Style, Tool};

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(2, |&byte| byte == 0);
    let (text, bytes) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let shape = match Shape::of_text(text) {
        Ok(shape) => shape,
        Err(refused) => {
            assert!(!refused.problem.is_empty());
            assert!(refused.pointer.is_empty() || refused.pointer.starts_with('/'), "{refused}");
            return;
        }
    };
    follow(&shape, bytes);
    let parameters = Json::parse(text).ok();
    let tool = Tool { name: "f".to_owned(), description: None, parameters };
    for free in [true, false] {
        if let Ok(shape) = Shape::of_calls(std::slice::from_ref(&tool), Style::TAGS, free) {
            follow(&shape, bytes);
            follow(&shape.several(), bytes);
        }
    }
});

/// Takes each of these bytes that may follow, then the completion.
fn follow(shape: &Shape, bytes: &[u8]) {
    let mut state = shape.start();
    for &byte in bytes.iter().take(200) {
        if let Some(next) = shape.next(&state, byte) {
            assert!(!shape.is_over(&state), "nothing may follow what is over");
            state = next;
        }
    }
    let closing = shape.closing_text(&state);
    for (i, &byte) in closing.iter().enumerate() {
        // Of a long completion, only the first and the last 50 bytes are checked.
        if i < 50 || i + 50 > closing.len() {
            assert_eq!(shape.closing_text(&state), closing[i..]);
        }
        state = shape.next(&state, byte).expect("a closing byte may follow");
    }
    assert!(shape.is_complete(&state));
}
