//! Week 3, day 1, task 2: texts that end an answer.

use tiny_llm::week3::stop::StopTexts;
use tiny_llm_harness::check;

/// Pieces that come, and at which of them the text is there, if at any.
type Pieces = (&'static str, &'static [&'static str], &'static [&'static str], Option<usize>);

const PIECES: [Pieces; 13] = [
    ("in one piece", &["stop"], &["we stop here"], Some(0)),
    ("in the second piece", &["stop"], &["we ", "stop"], Some(1)),
    ("begins in one piece and ends in the next", &["stop"], &["we st", "op"], Some(1)),
    ("a byte at a time", &["stop"], &["s", "t", "o", "p"], Some(3)),
    ("begins again inside its own beginning", &["aab"], &["aa", "a", "b"], Some(2)),
    ("begins again in the piece that breaks it off", &["\n\nQ"], &["\n", "\n\n", "Q"], Some(2)),
    ("its parts, with something between them", &["stop"], &["st", "-", "op"], None),
    ("its end alone", &["stop"], &["t", "op"], None),
    ("the second of two", &["stop", "end"], &["the e", "nd"], Some(1)),
    ("a short one, after a long one has begun", &["stopped", "pp"], &["stop", "p"], Some(1)),
    (
        "a long one in two pieces, beside a short one",
        &["stopped", "xy"],
        &["we stop", "ped"],
        Some(1),
    ),
    ("an empty piece in between", &["stop"], &["st", "", "op"], Some(2)),
    ("no texts at all", &[], &["stop"], None),
];

/// A token may hold a part of a character, and a text is looked for byte by byte.
#[test]
fn task_2_bytes_that_are_no_text() {
    let mut stop = StopTexts::new(vec![vec![0xc3, 0xa9]]);
    for (i, (piece, expected)) in
        [(&[0xc3, 0xff][..], false), (&[0xa9], false), (&[0xc3], false), (&[0xa9], true)]
            .into_iter()
            .enumerate()
    {
        let call = format!("the text [c3, a9]: piece number {i}, {piece:02x?}");
        let found = check::assert_accepts(&call, || stop.push(piece));
        check::assert_answer(&call, &found, &expected);
    }
    let mut stop = StopTexts::new(vec![vec![0xff, b'!']]);
    let call = "the text [ff, 21]: a piece [fe, 21]";
    let found = check::assert_accepts(call, || stop.push(&[0xfe, b'!']));
    check::assert_answer(call, &found, &false);
}

#[test]
fn task_2_texts_over_pieces() {
    for (why, texts, pieces, expected) in PIECES {
        let mut stop = StopTexts::new(texts.iter().map(|t| t.as_bytes().to_vec()).collect());
        for (i, piece) in pieces.iter().enumerate() {
            let call = format!("{why}: texts {texts:?}, pieces {pieces:?}, number {i}, {piece:?}");
            let found = check::assert_accepts(&call, || stop.push(piece.as_bytes()));
            check::assert_answer(&call, &found, &(expected == Some(i)));
            if found {
                break;
            }
        }
    }
}

/// The halves of a character are no characters: bytes are compared, not letters.
#[test]
fn task_2_a_character_in_two_tokens() {
    let text = "▁é".as_bytes();
    for cut in 1..text.len() {
        let mut stop = StopTexts::new(vec![text.to_vec()]);
        let call = format!("the bytes {text:?}, cut after {cut}");
        let found = [stop.push(&text[..cut]), stop.push(&text[cut..])];
        check::assert_answer(&call, &found, &[false, true]);
    }
}

/// An answer of a million pieces must not be kept, nor searched again with every piece: two answers
/// that end alike leave the same behind, whatever came before.
#[test]
fn task_2_what_lies_behind_is_forgotten() {
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
        "33 kB of text and 31 more bytes, or those 31 bytes alone, where the longest text has 11: \
         what is kept must be the same, because only the last bytes can still become part of a text"
    );
    for (piece, expected) in [("a long", false), (" text", true)] {
        check::assert_answer(
            &format!(
                "then \"a long\" and \" text\", which are \"a long text\" together: whether a text has \
                 appeared with the piece {piece:?}"
            ),
            &long.push(piece.as_bytes()),
            &expected,
        );
    }
}
