//! Random schemas and vocabularies.

use std::sync::Arc;

use serde_json::{Value, json};
pub(super) use shaped::Shaped;
use tiny_llm_reference::{week1::sampling::Rng, week3::constraint::Vocabulary};

mod shaped;

/// Returns a random number below `n`.
pub(super) fn pick(rng: &mut Rng, n: usize) -> usize {
    (rng.next_u64() % n as u64) as usize
}

/// Returns a vocabulary of all single bytes, pieces of JSON, and random texts.
pub(super) fn vocabulary(rng: &mut Rng) -> Arc<Vocabulary> {
    let mut texts: Vec<Vec<u8>> = vec![Vec::new()];
    texts.extend((0..=255).map(|byte| vec![byte]));
    for piece in [
        "{\"", "\"}", "\":", "\": ", "\",\"", "\", \"", "}}", "]}", "},{", "[{\"", "true", "null",
        "false", "\"a\":", "12", "-0", "0.5", "é", "日", "ab", "a\",", "]]", "00", " {", "202",
    ] {
        texts.push(piece.into());
    }
    for _ in 0..30 {
        let length = 1 + pick(rng, 3);
        texts.push((0..length).map(|_| b"{}[]\":,a0 1-.e\\bu"[pick(rng, 17)]).collect());
    }
    Arc::new(Vocabulary::new(texts))
}

/// Returns a random schema with at most this many levels of nesting.
pub(super) fn schema(rng: &mut Rng, levels: usize) -> Value {
    let bounded = |rng: &mut Rng, kind: &str| {
        let least = pick(rng, 40) as i64 - 20;
        let most = least + pick(rng, 300) as i64;
        json!({"type": kind, "minimum": least, "maximum": most})
    };
    match pick(rng, if levels == 0 { 10 } else { 15 }) {
        0 => json!({"type": "string"}),
        1 => {
            let least = pick(rng, 5);
            json!({"type": "string", "minLength": least, "maxLength": least + pick(rng, 6)})
        }
        2 => json!({"type": "string", "pattern": "^[a-c]{2,4}(x|yé)?$"}),
        3 => json!({"type": "string", "format": if pick(rng, 2) == 0 { "date" } else { "uuid" }}),
        4 => json!({"type": ["boolean", "null", "integer"]}),
        5 => bounded(rng, "integer"),
        6 => bounded(rng, "number"),
        7 => json!({"type": "integer", "minimum": 0, "multipleOf": 1 + pick(rng, 9)}),
        8 => json!({"enum": ["a", "ab", 1, 12, null, [1, {"b": 2}]]}),
        9 => json!({"type": "number"}),
        10 | 11 => {
            let least = pick(rng, 3);
            let most = least + pick(rng, 4);
            json!({"type": "array", "items": schema(rng, levels - 1), "minItems": least,
                "maxItems": most})
        }
        12 => json!({"anyOf": [schema(rng, levels - 1), schema(rng, levels - 1)]}),
        _ => {
            let names = ["a", "ab", "b", "key", "é", "q\""];
            let mut properties = serde_json::Map::new();
            let mut required = Vec::new();
            for name in &names[..1 + pick(rng, 5)] {
                properties.insert((*name).to_owned(), schema(rng, levels - 1));
                if pick(rng, 2) == 0 {
                    required.push(*name);
                }
            }
            let others = match pick(rng, 3) {
                0 => json!(true),
                1 => schema(rng, 0),
                _ => json!(false),
            };
            json!({"type": "object", "properties": properties, "required": required,
                "additionalProperties": others})
        }
    }
}
