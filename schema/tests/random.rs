//! Generates answers from random logits under random schemas. Every answer is complete and valid,
//! for any vocabulary, logits and budget.

use std::sync::Arc;

use drawn::{Shaped, pick, schema, vocabulary};
use serde_json::{Value, json};
use tiny_llm_reference::{
    week1::sampling::Rng,
    week3::constraint::{Constraint, Rules, Vocabulary},
};
use tiny_llm_schema::{Json, Shape, Style, Tool};

mod drawn;

/// Returns whether a value matches a schema that was drawn by `drawn::schema`. Checks the value
/// directly, without an automaton.
fn fits(schema: &Value, value: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return *schema == true };
    let size = |name: &str, or: u64| schema.get(name).map_or(or, |n| n.as_u64().expect("a size"));
    schema.iter().all(|(name, rule)| match name.as_str() {
        "type" => {
            let is = |rule: &Value| match rule.as_str().expect("a type") {
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "null" => value.is_null(),
                "integer" => value.as_f64().is_some_and(|x| x.fract() == 0.0),
                "number" => value.is_number(),
                "array" => value.is_array(),
                _ => value.is_object(),
            };
            rule.as_array().map_or_else(|| is(rule), |all| all.iter().any(is))
        }
        "minLength" | "maxLength" => value.as_str().is_none_or(|text| {
            let count = text.chars().count() as u64;
            (size("minLength", 0)..=size("maxLength", u64::MAX)).contains(&count)
        }),
        "minItems" | "maxItems" => value.as_array().is_none_or(|all| {
            (size("minItems", 0)..=size("maxItems", u64::MAX)).contains(&(all.len() as u64))
        }),
        "pattern" => value.as_str().is_none_or(|text| {
            let start = text.trim_end_matches("yé").trim_end_matches('x');
            let end = &text[start.len()..];
            let letters = start.bytes().all(|byte| (b'a'..=b'c').contains(&byte));
            letters && (2..=4).contains(&start.len()) && ["", "x", "yé"].contains(&end)
        }),
        "format" => value.as_str().is_none_or(|text| {
            let dashes = text.bytes().filter(|&byte| byte == b'-').count();
            if rule == "date" {
                text.len() == 10 && dashes == 2
            } else {
                text.len() == 36 && dashes == 4
            }
        }),
        "minimum" => value.as_f64().is_none_or(|x| x >= rule.as_f64().expect("a number")),
        "maximum" => value.as_f64().is_none_or(|x| x <= rule.as_f64().expect("a number")),
        "multipleOf" => value.as_i64().is_none_or(|n| n % rule.as_i64().expect("a number") == 0),
        "enum" => rule.as_array().expect("values").contains(value),
        "anyOf" => rule.as_array().expect("schemas").iter().any(|rule| fits(rule, value)),
        "items" => value.as_array().is_none_or(|all| all.iter().all(|value| fits(rule, value))),
        "properties" => value.as_object().is_none_or(|fields| {
            fields.iter().all(|(name, value)| rule.get(name).is_none_or(|rule| fits(rule, value)))
        }),
        "required" => value.as_object().is_none_or(|fields| {
            let names = rule.as_array().expect("names").iter();
            names.map(|name| name.as_str().expect("a name")).all(|name| fields.contains_key(name))
        }),
        "additionalProperties" => value.as_object().is_none_or(|fields| {
            let known = schema["properties"].as_object().expect("properties");
            let others = fields.iter().filter(|(name, _)| !known.contains_key(*name));
            others.into_iter().all(|(_, value)| fits(rule, value))
        }),
        other => unreachable!("{other} is never drawn"),
    })
}

/// Returns an answer of at most `budget` tokens from random logits, or `None` if no answer fits.
fn written(
    rules: &Arc<Rules<Shaped>>,
    vocabulary: &Vocabulary,
    budget: usize,
    rng: &mut Rng,
) -> Option<Vec<u8>> {
    let mut constraint = Constraint::new(rules);
    constraint.fits(budget).ok()?;
    let (count, mut text) = (vocabulary.trie().vocabulary(), Vec::new());
    for left in (1..=budget).rev() {
        let logits: Vec<f32> = (0..count).map(|_| rng.uniform() as f32).collect();
        let mut masked = logits;
        let token = constraint.choose(&mut masked, (left, &[0]), |masked| {
            let best = (0..count).max_by(|&a, &b| masked[a].total_cmp(&masked[b]));
            best.expect("a vocabulary") as u32
        });
        if token == 0 {
            assert!(constraint.is_complete());
            return Some(text);
        }
        text.extend_from_slice(vocabulary.text(token));
        if constraint.accept(token) {
            return Some(text);
        }
    }
    assert!(constraint.is_complete(), "{}", String::from_utf8_lossy(&text));
    Some(text)
}

#[test]
fn every_answer_matches_its_schema() {
    let mut rng = Rng::new(20_260);
    let (mut answers, mut schemas) = (0, 0);
    for _ in 0..200 {
        let schema = schema(&mut rng, 3);
        let Ok(shape) = Shape::of_text(schema.to_string().as_bytes()) else {
            panic!("{schema}: refused");
        };
        let (shape, vocabulary) = (Arc::new(shape), vocabulary(&mut rng));
        let rules = Arc::new(Rules::new(Shaped(Arc::clone(&shape)), Arc::clone(&vocabulary)));
        let needed = Constraint::new(&rules).needed().expect("all bytes are tokens");
        schemas += 1;
        assert!(written(&rules, &vocabulary, needed - 1, &mut rng).is_none(), "{schema}");
        for budget in [needed, needed + 1 + pick(&mut rng, 5), needed + 30] {
            let text = written(&rules, &vocabulary, budget, &mut rng).expect("it fits");
            let shown = String::from_utf8_lossy(&text);
            let value: Value =
                serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{schema}: {shown}: {e}"));
            assert!(fits(&schema, &value), "{schema}: {shown}");
            assert!(shape.accepts(&text), "{schema}: {shown}");
            answers += 1;
        }
    }
    assert!(schemas == 200 && answers == 600, "{schemas} schemas, {answers} answers");
}

fn tools() -> Vec<Tool> {
    let schema = |text: &str| Some(Json::parse(text.as_bytes()).expect("JSON"));
    let named =
        |name: &str, parameters| Tool { name: name.to_owned(), description: None, parameters };
    vec![
        named("now", None),
        named(
            "weather",
            schema(
                r#"{"type": "object", "properties": {"city": {"enum": ["Oslo", "Rome"]}},
                    "required": ["city"], "additionalProperties": false}"#,
            ),
        ),
    ]
}

#[test]
fn every_call_that_begins_is_complete() {
    let mut rng = Rng::new(20_261);
    for (style, free) in
        [(Style::PLAIN, false), (Style::PLAIN, true), (Style::TAGS, false), (Style::TAGS, true)]
    {
        let shape = Arc::new(Shape::of_calls(&tools(), style, free).expect("tools"));
        let vocabulary = vocabulary(&mut rng);
        let rules = Arc::new(Rules::new(Shaped(Arc::clone(&shape)), Arc::clone(&vocabulary)));
        let mut called = 0;
        for i in 0..100 {
            let budget = 60 + i % 7;
            let text = written(&rules, &vocabulary, budget, &mut rng).expect("it fits");
            assert!(shape.accepts(&text), "{}", String::from_utf8_lossy(&text));
            let text = String::from_utf8_lossy(&text);
            let begun = text.find(if style == Style::PLAIN { "{" } else { "<tool_call>" });
            if free && begun != Some(0) {
                continue;
            }
            let inner = text.strip_prefix(style.open).expect("what stands before it");
            let inner = inner.strip_suffix(style.close).expect("what stands behind it");
            let call: Value = serde_json::from_str(inner).expect("a call");
            assert!(["now", "weather"].contains(&call["name"].as_str().expect("a name")));
            assert_eq!(call["name"] == "now", call["arguments"] == json!({}), "{text}");
            called += 1;
        }
        assert!(called == 100 || free, "{style:?} {called}");
    }
    // With `several`, a call may follow on the next line, and each must be a call.
    for (style, free) in
        [(Style::PLAIN, false), (Style::PLAIN, true), (Style::TAGS, false), (Style::TAGS, true)]
    {
        let one = Shape::of_calls(&tools(), style, free).expect("tools");
        let several = Shape::of_calls(&tools(), style, free).expect("tools").several();
        assert_ne!(one, several);
        let call = |inner: &str| format!("{}{inner}{}", style.open, style.close);
        let now = call("{\"name\":\"now\",\"arguments\":{}}");
        let rome = call("{\"name\":\"weather\",\"arguments\":{\"city\":\"Rome\"}}");
        for (text, is, also) in [
            (now.clone(), true, true),
            (format!("{now}\n{rome}"), false, true),
            (format!("{now}\n{rome}\n{now}"), false, true),
            (format!("{now}\n"), false, true),
            (format!("{now}\n\n{rome}"), false, false),
            (format!("{now}{rome}"), false, false),
            (format!("{now}\n{}", &rome[..rome.len() - 1]), false, false),
            (format!("{now}\nAnd now?"), false, false),
        ] {
            assert_eq!(one.accepts(text.as_bytes()), is, "{style:?} {free}: one: {text}");
            assert_eq!(several.accepts(text.as_bytes()), also, "{style:?} {free}: several: {text}");
        }
    }
    // A free text may be any text, but once a call has begun, it must be completed.
    let free = Shape::of_calls(&tools(), Style::TAGS, true).expect("tools");
    for (text, is) in [
        ("", true),
        ("Hello <tool_cal", true),
        ("Hello <tool_call>", false),
        ("a<<tool_call>\n{\"name\":\"now\",\"arguments\":{}}\n</tool_call>", true),
        ("<tool_call>\n{\"name\":\"then\"", false),
        ("<tool_call>{", false),
    ] {
        assert_eq!(free.accepts(text.as_bytes()), is, "{text}");
    }
}
