//! Week 3, day 7, task 1: strings and numbers, byte by byte.

use super::*;

fn follow_text(text: &[u8]) -> (usize, bool) {
    let (state, alive) = walk(Text::Plain, text, Text::next);
    (alive, state == Text::Closed)
}

fn follow_number(text: &[u8]) -> (usize, bool) {
    let (state, alive) = walk(Number::Start, text, Number::next);
    (alive, alive == text.len() && state.is_complete())
}

#[test]
pub(super) fn task_1_text_next_over_strings() {
    let what = "Text::next over what follows a string's opening quotation mark";
    compare(what, &fixtures().case("task_1_text/strings"), follow_text);
}

#[test]
pub(super) fn task_1_number_next_over_numbers() {
    let what = "Number::next and is_complete over numbers";
    compare(what, &fixtures().case("task_1_number/numbers"), follow_number);
}

/// Checks for several states within a string how many different bytes may follow.
#[test]
fn task_1_text_number_of_valid_next_bytes() {
    let beginnings: [(&[u8], usize); 15] = [
        (b"", 0x60 + 30 + 16 + 5),
        (b"\\", 9),
        (b"\\u", 22),
        (b"\\u1", 22),
        (b"\\ud", 22 - 8),
        (b"\\ud7", 22),
        (b"\\ud8", 22),
        (b"\\ud80", 22),
        (b"\\ud800", 1),
        (b"\\ud800\\", 1),
        (b"\\ud800\\u", 2),
        (b"\\ud800\\ud", 8),
        (b"\\ud800\\udc0", 22),
        (b"\xe0", 32),
        (b"\xf4\x8f", 64),
    ];
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for (text, count) in beginnings {
        let (state, _) = walk(Text::Plain, text, Text::next);
        let n = (0..=255).filter(|&byte| state.next(byte).is_some()).count();
        let line = |n| format!("after \"{}: {n} bytes may follow", text.escape_ascii());
        found.push(line(n));
        expected.push(line(count));
    }
    let what = "number of bytes, of all 256, that may follow in a string";
    check::assert_answer(what, &Lines(found), &Lines(expected));
    let dead = (0..=255).filter(|&byte| Text::Closed.next(byte).is_some()).count();
    check::assert_answer(
        "number of bytes that may follow a string's closing quotation mark",
        &dead,
        &0,
    );
}
