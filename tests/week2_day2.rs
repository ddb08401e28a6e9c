//! Week 2, day 2: GGUF files (header, metadata, tensor table), the roofline.
//!
//! Expected values: `python-ref/oracle/week2_day2.py`.

use std::fmt;

use anyhow::Result;
use tiny_llm::week2::gguf::reader::Reader;
use tiny_llm_formats::gguf::{Metadata, Value};
use tiny_llm_harness::{
    check::{Lines, assert_answer},
    fixtures::{Case, Fixtures, Json},
    panics,
};

#[path = "week2_day2/messages.rs"]
mod messages;
#[path = "week2_day2/task_1.rs"]
mod task_1;
#[path = "week2_day2/task_2.rs"]
mod task_2;
#[path = "week2_day2/task_3.rs"]
mod task_3;
#[path = "week2_day2/task_3_drawn.rs"]
mod task_3_drawn;
#[path = "week2_day2/task_3_files.rs"]
mod task_3_files;
#[path = "week2_day2/task_4.rs"]
mod task_4;

const FILE: &str = "some.gguf";

fn fixtures() -> Fixtures {
    Fixtures::open("week2_day2")
}

#[track_caller]
fn assert_lines(what: &str, lines: impl IntoIterator<Item = (String, String)>) {
    let (found, expected) = lines.into_iter().unzip();
    assert_answer(what, &Lines(found), &Lines(expected));
}

/// Runs `action` on untrusted bytes. It may return a value or an error, but must not panic.
#[track_caller]
fn calmly<T>(what: &str, action: impl FnOnce() -> T) -> T {
    panics::catch(action).unwrap_or_else(|panic| {
        if panic.is_todo() {
            panic.go_on();
        }
        panic!(
            "{what}: this panicked: {}, at {}\n  never trust the bytes of a file: if they are \
             wrong, return an error",
            panic.message(),
            panic.place
        )
    })
}

/// Returns a text: the value that `read` returns and the reader's position, or "an error", because
/// the wording of errors is free.
#[track_caller]
fn outcome<'a, T: fmt::Debug>(
    what: &str,
    bytes: &'a [u8],
    read: impl FnOnce(&mut Reader<'a>) -> Result<T>,
) -> String {
    let mut reader = Reader::new(bytes, FILE);
    match calmly(what, || read(&mut reader)) {
        Ok(value) => format!("{value:?}, then at {}", reader.position()),
        Err(_) => "an error".to_owned(),
    }
}

/// Checks that the error is one line that names the file and all of `parts`.
#[track_caller]
fn assert_says(what: &str, error: &anyhow::Error, parts: &[&str]) {
    let message = format!("{error:#}");
    assert!(!message.contains('\n'), "{what}: the message has more than one line: {message}");
    for part in [FILE].iter().chain(parts) {
        assert!(
            message.contains(part),
            "{what}: the message {message:?} does not mention {part:?}"
        );
    }
}

/// Checks that `read` fails on `bytes` with a message that mentions all of `parts`.
#[track_caller]
fn refused<'a, T: fmt::Debug>(
    what: &str,
    bytes: &'a [u8],
    parts: &[&str],
    read: impl FnOnce(&mut Reader<'a>) -> Result<T>,
) {
    match calmly(what, || read(&mut Reader::new(bytes, FILE))) {
        Ok(value) => {
            panic!(
                "{what}: {value:?} was read, expected an error that mentions {}",
                parts.join(", ")
            )
        }
        Err(error) => assert_says(what, &error, parts),
    }
}

fn hex(json: &Json) -> Vec<u8> {
    let text = json.as_str().expect("a text of hexadecimal digits");
    (0..text.len() / 2)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("two digits"))
        .collect()
}

fn list<'a>(case: &'a Case, name: &str) -> &'a [Json] {
    case.value(name).as_array().expect("a list")
}

fn text(json: &Json) -> String {
    json.as_str().expect("a text").to_owned()
}

/// Appends other bytes, so that reading too far returns numbers, not an error.
fn followed(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().chain(1..=64).collect()
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

/// Returns the bytes of a metadata entry: the key, the type of the value, and the value.
fn entry(key: &str, type_id: u32, value: &[u8]) -> Vec<u8> {
    [&string(key)[..], &type_id.to_le_bytes(), value].concat()
}

fn metadata(alignment: Option<Value>) -> Metadata {
    let mut metadata = Metadata::new(FILE);
    if let Some(value) = alignment {
        metadata.insert("general.alignment", value);
    }
    metadata
}

/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week2_day2.rs"]
mod fresh;
