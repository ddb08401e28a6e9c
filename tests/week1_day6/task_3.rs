//! Week 1, day 6, task 3: streaming text.

use std::{
    panic,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use tiny_llm::week1::stream::TextStream;
use tiny_llm_formats::text::Tokenizer;
use tiny_llm_harness::{
    check::{Lines, assert_answer},
    fixtures::{Json, read},
};

use super::{embedded_model, fixtures};

/// Returns the examples of the fixture: name, bytes, text, and for each number of bytes the text
/// that is certain after them.
fn examples() -> Vec<(String, Vec<u8>, String, Vec<String>)> {
    let case = fixtures().case("task_3_stream/bytes");
    let examples: Vec<Json> = case.read("examples");
    let example =
        |e: &Json| (read(&e["name"]), read(&e["bytes"]), read(&e["text"]), read(&e["certain"]));
    examples.iter().map(example).collect()
}

/// Returns all ways to cut `n` bytes into pieces, as sorted lists of cuts. If `n` is above 11,
/// returns only those with at most two cuts, and the one with all cuts.
fn ways_to_cut(n: usize) -> Vec<Vec<usize>> {
    if n <= 11 {
        (0..1u32 << (n - 1))
            .map(|cuts| (1..n).filter(|i| cuts >> (i - 1) & 1 == 1).collect())
            .collect()
    } else {
        (1..n)
            .flat_map(|i| (i..n).map(move |j| if i == j { vec![i] } else { vec![i, j] }))
            .chain([vec![], (1..n).collect()])
            .collect()
    }
}

/// Returns the results of all pushes and of `finish`. They run in a separate thread, because a push
/// may never return.
fn pieces<'a>(pushes: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let pushes: Vec<Vec<u8>> = pushes.into_iter().map(<[u8]>::to_vec).collect();
    let input = format!("{pushes:02X?}");
    let (sender, receiver) = mpsc::channel();
    let work = thread::spawn(move || {
        let mut stream = TextStream::default();
        let mut pieces: Vec<String> = pushes.iter().map(|bytes| stream.push(bytes)).collect();
        pieces.push(stream.finish());
        // After a timeout there is no receiver.
        let _ = sender.send(pieces);
    });
    match receiver.recv_timeout(Duration::from_secs(5)) {
        Ok(pieces) => pieces,
        Err(RecvTimeoutError::Timeout) => {
            panic!(
                "push {input}, then finish: one of the calls does not return\n  each iteration of \
                 a loop must take bytes out of `pending` or leave the loop"
            )
        }
        // The thread panicked and printed its message.
        Err(RecvTimeoutError::Disconnected) => panic::resume_unwind(
            work.join().expect_err("the thread sends a result unless the call panics"),
        ),
    }
}

/// Compares the returned pieces. The last expected piece is the one that `finish` returns.
fn check_pieces(property: &str, pushes: &[&[u8]], expected: &[&str]) {
    let found = pieces(pushes.iter().copied());
    let what = format!("{property}: push {pushes:02X?}, then finish");
    assert_answer(&what, &found, &expected.iter().map(|&piece| piece.to_owned()).collect());
}

#[test]
fn task_3_complete_characters_are_returned_at_once() {
    let found = pieces(["Once", " upon", "", " a", "\n", " time "].map(str::as_bytes));
    let expected = ["Once", " upon", "", " a", "\n", " time ", ""].map(str::to_owned);
    assert_answer(
        "push \"Once\", \" upon\", \"\", \" a\", \"\\n\", \" time \", then finish: return complete \
         characters at once and unchanged",
        &found,
        &expected.into(),
    );
}

#[test]
fn task_3_invisible_characters_are_kept() {
    let text = "\u{feff}a\0b\r\n\t\u{7f}\u{200b}\u{fffd}\u{feff}";
    let found = pieces([text.as_bytes()]);
    // Without diagnosis: many mistakes have no effect on a text in one push.
    assert!(
        found == [text, ""],
        "push {text:?} at once, then finish: return invisible characters unchanged too, such as a \
         byte order mark, a zero and line ends\n  found    {found:?}"
    );
}

#[test]
fn task_3_multi_byte_characters_are_returned_whole() {
    let found = pieces("a😀é".as_bytes().chunks(1));
    let expected = ["a", "", "", "", "😀", "", "é", ""].map(str::to_owned);
    assert_answer(
        "push the bytes of \"a😀é\" one by one, then finish: return nothing until a character is \
         complete, then the character",
        &found,
        &expected.into(),
    );
}

#[test]
fn task_3_only_incomplete_characters_are_held_back() {
    check_pieces(
        "return the text before an unfinished character at once",
        &[b"ab\xF0\x9F", b"\x98\x80c\xC3", b"\xA9"],
        &["ab", "😀c", "é", ""],
    );
    check_pieces(
        "an empty push must keep the bytes that are held back",
        &[b"\xC3", b"", b"\xA9"],
        &["", "", "é", ""],
    );
}

#[test]
fn task_3_invalid_bytes_become_u_fffd_at_once() {
    check_pieces(
        "no character begins with 80, so return U+FFFD for it at once, and the text after it",
        &[b"a\x80bcd", b"e"],
        &["a\u{fffd}bcd", "e", ""],
    );
    check_pieces(
        "no character begins with C0 or FF",
        &[b"\xC0", b"\xFF"],
        &["\u{fffd}", "\u{fffd}", ""],
    );
    check_pieces(
        "E2 82 needs a third byte; if a letter follows instead, return one U+FFFD for both bytes",
        &[b"\xE2\x82", b"A"],
        &["", "\u{fffd}A", ""],
    );
}

#[test]
fn task_3_finish_returns_one_u_fffd_for_held_back_bytes() {
    let bytes = |held: usize| &"ab😀".as_bytes()[..2 + held];
    let line = |held, pushed, end, again| {
        format!(
            "pushes of {:02X?} = {pushed:?}, finish = {end:?}, finish again = {again:?}",
            bytes(held)
        )
    };
    let found = [0, 1, 2, 3].map(|held| {
        let mut stream = TextStream::default();
        let pushed: String = bytes(held).chunks(1).map(|byte| stream.push(byte)).collect();
        line(held, pushed, stream.finish(), stream.finish())
    });
    let expected = [(0, ""), (1, "\u{fffd}"), (2, "\u{fffd}"), (3, "\u{fffd}")]
        .map(|(held, end)| line(held, "ab".into(), end.into(), "".into()));
    assert_answer(
        "push bytes one by one, then finish after 0, 1, 2 or 3 of the 4 bytes of an emoji: the \
         first finish must return one U+FFFD for the bytes held back, and the second nothing",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
}

#[test]
fn task_3_pieces_add_up_to_the_text_for_any_split() {
    for (name, bytes, text, certain) in examples() {
        // Checks that it returns at all.
        pieces([&bytes[..]]);
        for cuts in ways_to_cut(bytes.len()) {
            let mut stream = TextStream::default();
            let (mut found, mut from) = (String::new(), 0);
            let input =
                format!("{name}, {bytes:02X?} in pieces that end at {cuts:?} and at the end");
            for to in cuts.iter().copied().chain([bytes.len()]) {
                found += &stream.push(&bytes[from..to]);
                let expected = &certain[to];
                assert!(
                    found == *expected,
                    "{input}: after {to} bytes the pushes must have returned all text that is \
                     certain, and no more\n  found    {found:?}\n  expected {expected:?}"
                );
                from = to;
            }
            found += &stream.finish();
            assert!(
                found == text,
                "{input}: all pieces and the result of finish must add up to \
                 String::from_utf8_lossy of all bytes\n  found    {found:?}\n  expected {text:?}"
            );
        }
    }
}

#[test]
fn task_3_long_text_is_returned_in_one_push() {
    let text = "a\u{ffff}b\u{0}ü😀 ".repeat(100);
    let found = pieces([text.as_bytes()]);
    assert!(
        found == [text.as_str(), ""],
        "push of {} bytes of complete characters, including U+FFFF and U+0000, then finish: push \
         returned {} bytes and finish {}, expected all from push and none from finish\n  every \
         character is text, and a push may have any length",
        text.len(),
        found[0].len(),
        found[1].len()
    );
}

#[test]
fn task_3_embedded_model_tokens_decode_to_text() {
    let mut stream = TextStream::default();
    let mut found = stream.push(b"");
    let case = fixtures().case("task_3_stream/tokens");
    let tokenizer =
        Tokenizer::from_folder(&embedded_model()).expect("the embedded model's tokenizer");
    for id in case.ids("ids") {
        let bytes = tokenizer.token_bytes(id);
        let piece = stream.push(&bytes);
        assert!(
            !piece.contains('\u{fffd}'),
            "after {found:?}, push of token {id}, {bytes:02X?}, returned {piece:?}: hold back an \
             unfinished character until its other bytes arrive"
        );
        found += &piece;
    }
    found += &stream.finish();
    let text: String = case.read("text");
    assert!(
        found == text,
        "the pieces of all tokens must add up to the text that was tokenized\n  found    \
         {found:?}\n  expected {text:?}"
    );
}
