//! Week 3, day 7, task 2: each of the 256 bytes at each index of a text, compared with another
//! parser.

use tiny_llm::week3::json::JsonState;
use tiny_llm_harness::fixtures::Json as Value;

fn is_json(bytes: &[u8]) -> bool {
    let mut state = Some(JsonState::value());
    for &byte in bytes {
        state = state.and_then(|state| state.next(byte));
    }
    state.is_some_and(JsonState::is_complete)
}

#[test]
fn task_2_json_state_with_any_byte_inserted() {
    let texts: [&[u8]; 5] = [
        b" { \"k\" : [ 1 , true ] , \"l\" : { } } ",
        b"[-1.5e2,\"a\\n\",null,[]]",
        b"{\"a\":0,\"b\":\"\\u00e9\"}",
        b" 12 ",
        b"\"\"",
    ];
    for text in texts {
        for at in 0..=text.len() {
            for byte in 0..=255u8 {
                let mut other = text.to_vec();
                other.insert(at, byte);
                let expected =
                    std::str::from_utf8(&other).is_ok_and(|text| text.parse::<Value>().is_ok());
                let found = is_json(&other);
                assert!(
                    found == expected,
                    "whether {:?} with byte {byte:#04x} inserted at {at} is JSON: found {found}, \
                     expected {expected}",
                    text.escape_ascii().to_string()
                );
            }
        }
    }
}
