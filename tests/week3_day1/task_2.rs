//! Week 3, day 1, task 2: texts that end an answer.

use tiny_llm::week3::stop::StopTexts;
use tiny_llm_harness::check;

/// Name, stop texts, pieces, and the index of the piece that completes a stop text, if any.
type Pieces = (&'static str, &'static [&'static str], &'static [&'static str], Option<usize>);

const PIECES: [Pieces; 13] = [
    ("in one piece", &["stop"], &["we stop here"], Some(0)),
    ("in the second piece", &["stop"], &["we ", "stop"], Some(1)),
    ("begins in one piece and ends in the next", &["stop"], &["we st", "op"], Some(1)),
    ("a byte at a time", &["stop"], &["s", "t", "o", "p"], Some(3)),
    ("starts again inside a partial match", &["aab"], &["aa", "a", "b"], Some(2)),
    (
        "starts again in the piece that breaks a partial match",
        &["\n\nQ"],
        &["\n", "\n\n", "Q"],
        Some(2),
    ),
    ("the parts of a stop text, with other text in between", &["stop"], &["st", "-", "op"], None),
    ("only the end of a stop text", &["stop"], &["t", "op"], None),
    ("the second of two stop texts", &["stop", "end"], &["the e", "nd"], Some(1)),
    (
        "a short stop text, after a partial match of a long one",
        &["stopped", "pp"],
        &["stop", "p"],
        Some(1),
    ),
    (
        "a long stop text in two pieces, next to a short one",
        &["stopped", "xy"],
        &["we stop", "ped"],
        Some(1),
    ),
    ("an empty piece in between", &["stop"], &["st", "", "op"], Some(2)),
    ("no stop texts", &[], &["stop"], None),
];

/// A token may hold part of a character, so texts are compared byte by byte.
#[test]
fn task_2_push_compares_bytes_of_invalid_utf8() {
    let mut stop = StopTexts::new(vec![vec![0xc3, 0xa9]]);
    for (i, (piece, expected)) in
        [(&[0xc3, 0xff][..], false), (&[0xa9], false), (&[0xc3], false), (&[0xa9], true)]
            .into_iter()
            .enumerate()
    {
        let call = format!("stop text [c3, a9]: push of piece {i}, {piece:02x?}");
        let found = check::assert_accepts(&call, || stop.push(piece));
        check::assert_answer(&call, &found, &expected);
    }
    let mut stop = StopTexts::new(vec![vec![0xff, b'!']]);
    let call = "stop text [ff, 21]: push of [fe, 21]";
    let found = check::assert_accepts(call, || stop.push(&[0xfe, b'!']));
    check::assert_answer(call, &found, &false);
}

#[test]
fn task_2_stop_texts_split_across_pieces() {
    for (why, texts, pieces, expected) in PIECES {
        let mut stop = StopTexts::new(texts.iter().map(|t| t.as_bytes().to_vec()).collect());
        for (i, piece) in pieces.iter().enumerate() {
            let call =
                format!("{why}: texts {texts:?}, pieces {pieces:?}: push of piece {i}, {piece:?}");
            let found = check::assert_accepts(&call, || stop.push(piece.as_bytes()));
            check::assert_answer(&call, &found, &(expected == Some(i)));
            if found {
                break;
            }
        }
    }
}

/// A character may be split across two pieces, because bytes are compared, not characters.
#[test]
fn task_2_character_split_across_two_pieces() {
    let text = "▁é".as_bytes();
    for cut in 1..text.len() {
        let mut stop = StopTexts::new(vec![text.to_vec()]);
        let call = format!("stop text {text:?} in two pieces, cut after {cut} bytes");
        let found = [stop.push(&text[..cut]), stop.push(&text[cut..])];
        check::assert_answer(&call, &found, &[false, true]);
    }
}

/// The state must not keep a long answer, nor search it again for each piece. After a long and a
/// short answer with the same end, the state is the same.
#[test]
fn task_2_state_holds_only_recent_bytes() {
    let texts = vec![b"a long text".to_vec(), b"b".to_vec()];
    let (mut long, mut short) = (StopTexts::new(texts.clone()), StopTexts::new(texts));
    for _ in 0..1000 {
        long.push(b"a long tex, then something else. ");
    }
    for stop in [&mut long, &mut short] {
        stop.push(b"The end is the same.");
        stop.push(b" Here, too.");
    }
    assert!(
        long == short,
        "push of 33 kB and then 31 bytes, and push of the same 31 bytes alone: the state must be \
         the same. The longest stop text has 11 bytes, so keep only the last bytes, which can \
         still begin a stop text"
    );
    for (piece, expected) in [("a long", false), (" text", true)] {
        check::assert_answer(
            &format!(
                "then the pieces \"a long\" and \" text\", together a stop text: push of {piece:?}"
            ),
            &long.push(piece.as_bytes()),
            &expected,
        );
    }
}
