//! Week 3, day 7: all of UTF-8, all escapes and all short numbers, compared with a definition;
//! short texts compared with another JSON parser; masks compared with their definition.

use tiny_llm::week3::{
    json::JsonState,
    scalar::{Number, Text},
    whole::{NEVER, mask},
};
use tiny_llm_harness::{check::assert_accepts, fixtures::Json as Value};

use super::drawn::below;

/// Returns whether a string may contain these bytes, and its closing quote may follow.
fn is_text(bytes: &[u8]) -> bool {
    let mut state = Text::Plain;
    for &byte in bytes {
        match state.next(byte) {
            Some(next) => state = next,
            None => return false,
        }
    }
    state == Text::Plain
}

#[test]
fn task_1_text_accepts_exactly_valid_utf8() {
    let check = |bytes: &[u8]| {
        // Escapes have their own test below.
        if bytes.contains(&b'\\') {
            return;
        }
        let plain = |&byte: &u8| byte >= 0x20 && byte != b'"';
        let expected = std::str::from_utf8(bytes).is_ok() && bytes.iter().all(plain);
        let found = is_text(bytes);
        assert!(
            found == expected,
            "whether a string may contain the bytes {bytes:02X?}: found {found}, expected \
             {expected}"
        );
    };
    // The first and last bytes of each range in UTF-8, and the bytes next to them.
    let borders: Vec<u8> =
        [0x00, 0x1f, 0x20, 0x22, 0x5c, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0]
            .into_iter()
            .chain([
                0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5,
                0xff,
            ])
            .collect();
    for a in 0..=255 {
        check(&[a]);
        for b in 0..=255 {
            check(&[a, b]);
        }
    }
    for a in 0xc0..=255 {
        for &b in &borders {
            for &c in &borders {
                check(&[a, b, c]);
                check(&[a, b, c, b'a']);
                for &d in &borders {
                    check(&[a, b, c, d]);
                }
            }
        }
    }
    check(&[0xf0, 0x9f, 0x98, 0x80, 0xc3, 0xa9]);
    // Every Unicode character.
    for c in (0..=0x10ffff).filter_map(char::from_u32) {
        check(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

#[test]
fn task_1_text_accepts_exactly_valid_escapes() {
    for byte in 0..=255u8 {
        let expected = b"\"\\/bfnrt".contains(&byte);
        let found = is_text(&[b'\\', byte]);
        assert!(
            found == expected,
            "whether \\ and the byte {byte:#04x} are an escape: found {found}, expected {expected}"
        );
    }
    let (first, second) = (0xd800..=0xdbffu32, 0xdc00..=0xdfff);
    for number in 0..=0xffffu32 {
        let escapes = [format!("\\u{number:04x}"), format!("\\u{number:04X}")];
        let alone = !first.contains(&number) && !second.contains(&number);
        for escape in &escapes {
            let found = is_text(escape.as_bytes());
            assert!(
                found == alone,
                "whether the escape {escape} is valid: found {found}, expected {alone}"
            );
        }
        if number % 61 != 0 && !(0xd7f0..0xe010).contains(&number) {
            continue;
        }
        for other in [0x41, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xddab, 0xdfff, 0xe000] {
            let pair = format!("\\u{number:04x}\\u{other:04X}");
            let expected = if first.contains(&number) {
                second.contains(&other)
            } else {
                alone && !first.contains(&other) && !second.contains(&other)
            };
            let found = is_text(pair.as_bytes());
            assert!(
                found == expected,
                "whether the escapes {pair} are valid: found {found}, expected {expected}"
            );
        }
    }
    for (text, expected) in [
        (&b"\\u00e9"[..], true),
        (b"\\u00E9x", true),
        (b"\\u00g9", false),
        (b"\\u00e", false),
        (b"\\u00e \"", false),
        (b"\\ud83d", false),
        (b"\\ud83dx", false),
        (b"\\ud83d\\n", false),
        (b"\\ud83d\\u00e9", false),
        (b"\\uD83D\\uDE00\\uD83D\\uDE00", true),
        (b"\\ude00\\ud83d", false),
        (b"\\\\u12", true),
        (b"\\", false),
        (b"\\u", false),
    ] {
        let found = is_text(text);
        assert!(
            found == expected,
            "whether a string may contain {}: found {found}, expected {expected}",
            text.escape_ascii()
        );
    }
}

/// Returns whether these bytes can begin a number, and whether they are a complete number.
fn number(bytes: &[u8]) -> (bool, bool) {
    let mut state = Number::Start;
    for &byte in bytes {
        match state.next(byte) {
            Some(next) => state = next,
            None => return (false, false),
        }
    }
    (true, state.is_complete())
}

/// Returns whether an exponent has more than two digits, which other parsers may reject or accept.
fn has_long_exponent(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (0..text.len()).filter(|&at| text[at] | 0x20 == b'e').any(|at| {
        let rest = &text[at + 1..];
        digits(rest.strip_prefix(b"+").or(rest.strip_prefix(b"-")).unwrap_or(rest)) > 2
    })
}

#[test]
fn task_1_number_accepts_exactly_valid_short_numbers() {
    let signs = b"-+.eE017 ";
    for n in 0..=5u32 {
        for i in 0..signs.len().pow(n) {
            let text: Vec<u8> = (0..n).map(|at| signs[i / signs.len().pow(at) % 9]).collect();
            if has_long_exponent(&[&text[..], b"0"].concat()) {
                continue;
            }
            let is_number = |text: &[u8]| {
                !text.ends_with(b" ")
                    && !text.starts_with(b" ")
                    && std::str::from_utf8(text).is_ok_and(|text| text.parse::<Value>().is_ok())
            };
            let complete = is_number(&text);
            // The bytes can begin a number if they and one more digit are a number.
            let alive = complete || is_number(&[&text[..], b"0"].concat());
            let alive = alive || is_number(&[&text[..], b"1"].concat());
            let found = number(&text);
            assert!(
                found == (alive, complete),
                "the bytes {:?}: (whether they start a number, whether they are a number): found \
                 {found:?}, expected {:?}",
                text.escape_ascii().to_string(),
                (alive, complete)
            );
        }
    }
}

#[test]
fn task_1_number_limits_the_digit_count() {
    let digits = |n: usize| "1234567890".repeat(n).as_bytes()[..n].to_vec();
    let join = |parts: &[&[u8]]| parts.concat();
    for (text, expected) in [
        (digits(15), true),
        (digits(16), false),
        (join(&[b"-", &digits(15)]), true),
        (join(&[b"-", &digits(16)]), false),
        (join(&[b"0.", &digits(15)]), true),
        (join(&[b"0.", &digits(16)]), false),
        (join(&[&digits(15), b".", &digits(15)]), true),
        (join(&[&digits(15), b".", &digits(16)]), false),
        (join(&[&digits(15), b".", &digits(15), b"e-99"]), true),
        (join(&[&digits(15), b"E+12"]), true),
        (b"1e123".to_vec(), false),
        (b"0e00".to_vec(), true),
        (b"0e000".to_vec(), false),
        (b"-0.0e-00".to_vec(), true),
        (b"0.000000000000000".to_vec(), true),
        (b"0.0000000000000000".to_vec(), false),
    ] {
        let found = number(&text) == (true, true);
        assert!(
            found == expected,
            "whether {} is a number: found {found}, expected {expected}. Allow 15 digits on each \
             side of the point and two in the exponent",
            text.escape_ascii()
        );
    }
}

fn is_json(bytes: &[u8]) -> bool {
    let mut state = JsonState::value();
    for &byte in bytes {
        match state.next(byte) {
            Some(next) => state = next,
            None => return false,
        }
    }
    state.is_complete()
}

#[track_caller]
fn check_json(bytes: &[u8]) {
    if has_long_exponent(bytes) {
        return;
    }
    let expected = std::str::from_utf8(bytes).is_ok_and(|text| text.parse::<Value>().is_ok());
    let found = is_json(bytes);
    assert!(
        found == expected,
        "whether {:?} is JSON: found {found}, expected {expected}",
        bytes.escape_ascii().to_string()
    );
}

#[test]
fn task_2_json_state_with_all_short_texts() {
    let signs = b"{}[]\":,1 a";
    for n in 0..=5u32 {
        for i in 0..10usize.pow(n) {
            let text: Vec<u8> = (0..n).map(|at| signs[i / 10usize.pow(at) % 10]).collect();
            check_json(&text);
        }
    }
}

#[test]
fn task_2_json_state_with_one_byte_edits_and_random_texts() {
    let texts: [&[u8]; 14] = [
        b"{\"a\": [1, 2.5e3, {\"b\": null}], \"c\": {}}",
        b" [ true , false,null ,\"\\u00e9\\n\" ] ",
        b"[[], {}, [[]], [{}], {\"\": []}]",
        b"{\"a\":{\"b\":{\"c\":[0]}}}",
        b"-0.5E+1",
        b"\"x\\\"y\"",
        b"[\n\t-1,\r 0 , 10 ]",
        b"{ \"k\" : \"v\" , \"l\" : 0 }",
        b"[[1,2],[3,4]]",
        b" { \"k\" : [ 1 , true ] , \"l\" : { } } ",
        b"[-1.5e2,\"a\\n\",null,[]]",
        b"{\"a\":0,\"b\":\"\\u00e9\"}",
        b" 12 ",
        b"\"\"",
    ];
    let signs = b"{}[]\":,\\ 01-.eEtfnu\t\n\x0b\xc3\x00a";
    for text in texts {
        check_json(text);
        for at in 0..=text.len() {
            check_json(&text[..at]);
            for byte in 0..=255 {
                check_json(&[&text[..at], &[byte], &text[at..]].concat());
            }
            if at < text.len() {
                for &sign in signs {
                    check_json(&[&text[..at], &[sign], &text[at + 1..]].concat());
                }
                check_json(&[&text[..at], &text[at + 1..]].concat());
            }
        }
    }
    let mut below = below(71);
    for _ in 0..20_000 {
        // Many of these pieces can follow each other.
        let pieces: [&[u8]; 14] = [
            b"{",
            b"}",
            b"[",
            b"]",
            b",",
            b":",
            b"\"k\"",
            b"1",
            b" ",
            b"null",
            b"true",
            b"-2.5e1",
            b"\"\\\\\"",
            b"{\"a\":",
        ];
        let n = below(9);
        check_json(&(0..n).flat_map(|_| pieces[below(14)].to_vec()).collect::<Vec<u8>>());
    }
}

#[test]
fn task_4_mask_with_random_inputs() {
    let mut below = below(72);
    for _ in 0..4000 {
        let n = 1 + below(9);
        let prices: Vec<u16> = (0..n).map(|_| [0, 1, 2, 3, NEVER - 1, NEVER][below(6)]).collect();
        let logits: Vec<f32> = (0..n)
            .map(|_| [1.5, -2.0, 0.0, f32::MIN, f32::MAX, f32::NEG_INFINITY][below(6)])
            .collect();
        let stops = below(4);
        let stop: Vec<u32> = (0..stops).map(|_| below(n) as u32).collect();
        let left = [1, 2, 3, 4, 65_534, 65_535, 65_536, usize::MAX][below(8)];
        let complete = below(2) == 0;
        let mut found = logits.clone();
        let what = format!(
            "mask of logits {logits:?}, prices {prices:?}, {left} tokens left, stop tokens \
             {stop:?}, complete {complete}"
        );
        assert_accepts(&what, || mask(&mut found, &prices, left, &stop, complete));
        let stays = |i: usize| {
            if stop.contains(&(i as u32)) {
                complete
            } else {
                prices[i] != NEVER && usize::from(prices[i]) < left
            }
        };
        let expected: Vec<f32> =
            (0..n).map(|i| if stays(i) { logits[i] } else { f32::NEG_INFINITY }).collect();
        assert!(found == expected, "{what}\n  found    {found:?}\n  expected {expected:?}");
    }
}
