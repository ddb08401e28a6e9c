//! Week 3, day 7, task 2: JSON with a stack.

use super::*;

fn follow(start: JsonState, text: &[u8]) -> (usize, bool) {
    let (state, alive) = walk(start, text, JsonState::next);
    (alive, alive == text.len() && state.is_complete())
}

#[test]
pub(super) fn task_2_json_state_over_values() {
    resting_on(&[SCALARS], || {
        let case = fixtures();
        let what = "JsonState::next and is_complete over texts";
        compare(what, &case.case("task_2_json/values"), |text| follow(JsonState::value(), text));
    });
}

#[test]
fn task_2_json_state_with_one_byte_changed() {
    resting_on(&[SCALARS], || {
        for row in rows(&fixtures().case("task_2_json/mutated")) {
            let text = bytes(&row[0]);
            let call = format!("JsonState::next and is_complete over {}", text.escape_ascii());
            let (alive, whole) = check::assert_accepts(&call, || follow(JsonState::value(), &text));
            let expected = line(&text, number(&row[1]), row[2] == true);
            assert!(
                line(&text, alive, whole) == expected,
                "{call}\n  found    {}\n  expected {expected}",
                line(&text, alive, whole)
            );
        }
    });
}

#[test]
pub(super) fn task_2_json_state_requires_an_object() {
    resting_on(&[SCALARS], || {
        let case = fixtures();
        let what = "where an object is required, JsonState::next and is_complete over texts";
        compare(what, &case.case("task_2_json/objects"), |text| follow(JsonState::object(), text));
    });
}

#[test]
fn task_2_json_state_limits_nesting_depth() {
    resting_on(&[SCALARS], || {
        let case = fixtures().case("task_2_json/deep");
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        for row in rows(&case) {
            let text = bytes(&row[0]);
            let opened = text.iter().filter(|byte| b"[{".contains(byte)).count();
            let line = |alive: usize, whole: bool| {
                format!(
                    "{opened} levels, starting with {}…: {alive} bytes may follow; whole: {whole}",
                    text[..3].escape_ascii()
                )
            };
            let (alive, whole) = follow(JsonState::value(), &text);
            found.push(line(alive, whole));
            expected.push(line(number(&row[1]), row[2] == true));
        }
        let what = "nested objects and arrays";
        check::assert_answer(what, &Lines(found), &Lines(expected));
    });
}

/// A state must store only what affects the bytes that may follow, so that few states need prices.
#[test]
pub(super) fn task_2_states_with_equal_continuations_are_equal() {
    resting_on(&[SCALARS], || {
        let after = |text: &str| walk(JsonState::value(), text.as_bytes(), JsonState::next).0;
        let pairs = [
            ("in strings with different contents", "[\"a", "[\"\u{e9} \\n and more"),
            ("after different values", "[1 ", "[{\"a\":[]}"),
            ("in arrays, after different numbers of elements", "[[1],", "[1,2,3,\"x\","),
            ("after different keys", "{\"a\"", "{\"b\":1,\"ccc\" "),
            ("after closed objects and arrays", "[{\"a\":{}},[", "[["),
            (
                "before a value in an object, after different members",
                "{\"a\":",
                "{\"b\":[1,2],\"c\":  ",
            ),
        ];
        let mut found = Vec::new();
        for (why, one, other) in pairs {
            if after(one) != after(other) {
                found.push(format!("{why}: the states after {one} and {other} differ"));
            }
        }
        let what = "these states must be equal, because the same bytes may follow";
        assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
        for (one, other) in [("[", "{"), ("[1", "1"), ("[[1]", "[1]"), ("{\"a\":[1", "[[1")] {
            assert!(
                after(one) != after(other),
                "the states after {one} and {other} are equal, but must differ"
            );
        }
    });
}
