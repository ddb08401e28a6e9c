//! Compares which texts `jsonschema`, `llguidance` and this crate accept.
//! `python-ref/oracle/schemas.py` writes the schemas, the texts and the verdicts of the other two.

use serde_json::Value;
use tiny_llm_schema::{Json, MOST_DEPTH, Shape};

const CORPUS: &str = include_str!("../../tests/fixtures/schemas.json");

fn corpus() -> Value {
    serde_json::from_str(CORPUS).expect("it was written as JSON")
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().expect("a list")
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().expect("a text")
}

#[test]
fn accepts_exactly_the_texts_that_both_libraries_accept() {
    let corpus = corpus();
    let schemas = list(&corpus, "schemas");
    assert!(schemas.len() >= 100, "{} schemas", schemas.len());
    let mut wrong = Vec::new();
    for case in schemas {
        let (name, schema) = (text(case, "name"), text(case, "schema"));
        let shape = match Shape::of_text(schema.as_bytes()) {
            Ok(shape) => shape,
            Err(refused) => {
                wrong.push(format!("{name}: {refused}"));
                continue;
            }
        };
        for row in list(case, "texts") {
            let (text, fits, follows) = (row[0].as_str().expect("a text"), &row[1], &row[2]);
            // The oracle lists the exceptions, with reasons.
            let both = *fits == true && *follows == true;
            let expected = row[3].as_bool().unwrap_or(both);
            let found = shape.accepts(text.as_bytes());
            if found != expected {
                let takes = |takes: bool| if takes { "takes" } else { "refuses" };
                wrong.push(format!(
                    "{name}: {text:?}: {} it; jsonschema {} it, llguidance {} it",
                    takes(found),
                    takes(*fits == true),
                    takes(*follows == true)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn rejects_unsupported_keywords_with_their_position() {
    let corpus = corpus();
    let mut wrong = Vec::new();
    for case in list(&corpus, "refused") {
        let (schema, pointer) = (text(case, "schema"), text(case, "pointer"));
        match Shape::of_text(schema.as_bytes()) {
            Ok(_) => wrong.push(format!("{schema}: taken")),
            Err(refused) if refused.pointer != pointer => {
                wrong.push(format!("{schema}: {refused}; expected {pointer:?}"));
            }
            Err(refused) => {
                // The message names the unsupported keyword.
                let keyword = pointer.rsplit('/').next().unwrap_or_default();
                let names = refused.to_string().contains(keyword);
                assert!(names && !refused.problem.is_empty(), "{schema}: {refused}");
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Checks that after each prefix of a text, the closing text leads to a complete answer.
#[test]
fn closing_text_completes_every_prefix() {
    let corpus = corpus();
    for case in list(&corpus, "schemas") {
        let shape = Shape::of_text(text(case, "schema").as_bytes()).expect("a schema");
        for row in list(case, "texts").iter().filter(|row| row[1] == true) {
            let mut state = shape.start();
            for &byte in row[0].as_str().expect("a text").as_bytes() {
                let closing = shape.closing_text(&state);
                let mut end = state.clone();
                for (i, &byte) in closing.iter().enumerate() {
                    assert_eq!(shape.closing_text(&end), closing[i..], "{}: {row}", case["name"]);
                    assert!(!shape.is_complete(&end), "{}: {row}", case["name"]);
                    end = shape.next(&end, byte).expect("a closing byte may follow");
                }
                assert!(shape.is_complete(&end), "{}: {row}", case["name"]);
                let Some(next) = shape.next(&state, byte) else { break };
                state = next;
            }
        }
    }
}

#[test]
fn keeps_key_order_and_rejects_duplicate_keys() {
    let json = Json::parse(br#"{"z":1,"a":{"y":2,"b":[]}}"#).expect("JSON");
    assert_eq!(json.to_string(), r#"{"z":1,"a":{"y":2,"b":[]}}"#);
    assert!(Json::parse(br#"{"a":1,"a":2}"#).expect_err("twice").contains("twice"));
}

/// Checks that only the shortest completion is allowed beyond the maximum depth.
#[test]
fn allows_only_the_closing_text_beyond_the_maximum_depth() {
    let schema = r##"{"$ref": "#/$defs/n", "$defs": {"n": {
        "type": "object", "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/n"}}}
    }}}"##;
    let shape = Shape::of_text(schema.as_bytes()).expect("a schema");
    let mut state = shape.start();
    let mut depth = 0;
    'deeper: loop {
        for &byte in br#"{"a":["# {
            let Some(next) = shape.next(&state, byte) else { break 'deeper };
            state = next;
            depth += usize::from(matches!(byte, b'{' | b'['));
            assert!(depth < 80, "no end of it");
        }
    }
    assert!(depth > MOST_DEPTH, "{depth}");
    let closing = shape.closing_text(&state);
    for &byte in &closing {
        for other in [b'{', b'[', b'"', b',', b' '] {
            assert!(other == byte || shape.next(&state, other).is_none() || depth <= MOST_DEPTH);
        }
        state = shape.next(&state, byte).expect("a closing byte may follow");
        depth -= usize::from(matches!(byte, b'}' | b']'));
    }
    assert!(shape.is_over(&state));
}

/// Checks that slow schemas are rejected, and that schemas that only look expensive are accepted.
#[test]
fn rejects_schemas_that_take_too_long_to_compile() {
    // Each level refers to the level below twice.
    let level = |i: usize| {
        let below = format!("{{\"$ref\": \"#/$defs/{}\"}}", i + 1);
        format!("\"{i}\": {{\"anyOf\": [{below}, {below}]}}")
    };
    let levels: Vec<String> = (0..300).map(level).collect();
    let schema = format!(
        "{{\"$ref\": \"#/$defs/0\", \"$defs\": {{{}, \"300\": {{\"const\": 1}}}}}}",
        levels.join(", ")
    );
    // Too many schemas are nested by reference.
    assert!(Shape::of_text(schema.as_bytes()).is_err());
    let levels: Vec<String> = (272..300).map(level).collect();
    let schema = format!(
        "{{\"$ref\": \"#/$defs/272\", \"$defs\": {{{}, \"300\": {{\"const\": 1}}}}}}",
        levels.join(", ")
    );
    assert!(Shape::of_text(schema.as_bytes()).expect("a schema").accepts(b"1"));
    // Each level contains the level below ten times.
    let mut schema = "{\"const\": 1}".to_owned();
    for _ in 0..8 {
        schema = format!("{{\"type\": \"array\", \"minItems\": 10, \"items\": {schema}}}");
    }
    let refused = Shape::of_text(schema.as_bytes()).expect_err("a shortest text of 100 MB");
    assert!(refused.problem.contains("too large"), "{refused}");
    let open = "[".repeat(100_000);
    assert!(Shape::of_text(open.as_bytes()).is_err());
}
