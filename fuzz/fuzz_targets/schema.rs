//! Any bytes: a schema, and behind a byte of 0 what is written under it.
//!
//! Whatever comes is read or refused, and a refusal says where. What is read has an answer; each
//! beginning that the automaton takes has an end, which is the rest of the same text byte by byte.

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

/// Takes what may follow of these bytes, and then goes to the end.
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
        // Each time from anew: a long end is looked at where it begins and where it ends.
        if i < 50 || i + 50 > closing.len() {
            assert_eq!(shape.closing_text(&state), closing[i..]);
        }
        state = shape.next(&state, byte).expect("a closing byte may follow");
    }
    assert!(shape.is_complete(&state));
}
