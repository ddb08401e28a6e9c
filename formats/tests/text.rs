//! Compares chat templates with those of `transformers`. The expected results are in
//! `tests/fixtures/text.json`, written by `python-ref/oracle/text.py`.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::Value;
use tiny_llm_formats::{
    chat::Message,
    text::{ChatTemplate, Tokenizer},
};

fn fixtures() -> Value {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/text.json"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("the fixtures are committed"))
        .expect("JSON")
}

fn template(source: &str) -> ChatTemplate {
    let special = BTreeMap::from([
        ("bos_token".to_owned(), "<s>".to_owned()),
        ("eos_token".to_owned(), "</s>".to_owned()),
    ]);
    ChatTemplate::new(source.to_owned(), special, "test.jinja".to_owned())
        .expect("the syntax is right")
}

#[test]
fn templates_match_apply_chat_template() {
    let fixtures = fixtures();
    let mut refused = 0;
    for case in fixtures["renderings"].as_array().expect("a list") {
        let name = case["template"].as_str().expect("a name");
        let chat =
            fixtures["chats"][case["chat"].as_str().expect("a name")].as_array().expect("a chat");
        let messages: Vec<_> = chat
            .iter()
            .map(|m| Message::new(m[0].as_str().unwrap(), m[1].as_str().unwrap()))
            .collect();
        let add_generation_prompt = case["add_generation_prompt"].as_bool().expect("a flag");
        let what = format!(
            "template {name:?}, chat {:?}, add_generation_prompt {add_generation_prompt}",
            case["chat"]
        );
        let rendered = template(fixtures["templates"][name].as_str().expect("a template"))
            .render(&messages, add_generation_prompt);
        match case["error"].as_str() {
            None => {
                assert_eq!(
                    rendered.expect(&what),
                    case["text"].as_str().expect("a text"),
                    "{what}"
                );
            }
            Some(message) => {
                refused += 1;
                let error = rendered.expect_err(&what).to_string();
                assert!(
                    error.contains(message)
                        && error.contains("test.jinja")
                        && !error.contains('\n'),
                    "{what}: {error}"
                );
            }
        }
    }
    assert!(refused > 0, "some template refuses some chat");
}

#[test]
fn reads_folders_and_rejects_malformed_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let render = || {
        ChatTemplate::from_folder(folder.path())
            .map(|t| t.map(|t| t.render(&[Message::new("user", "x")], false).unwrap()))
    };
    let error = |result: anyhow::Result<Option<String>>| result.unwrap_err().to_string();

    let missing = Tokenizer::from_folder(folder.path()).err().expect("no file").to_string();
    assert!(missing.contains("tokenizer.json: cannot be read"), "{missing}");
    write("tokenizer.json", "{\"model\": 3}");
    let wrong = Tokenizer::from_folder(folder.path()).err().expect("no tokenizer").to_string();
    assert!(wrong.contains("tokenizer.json: field \"model.vocab\": found nothing"), "{wrong}");
    write("tokenizer.json", "{");
    let wrong = Tokenizer::from_folder(folder.path()).err().expect("no tokenizer").to_string();
    assert!(wrong.contains("tokenizer.json: not JSON") && !wrong.contains('\n'), "{wrong}");

    assert_eq!(render().unwrap(), None);
    write("tokenizer_config.json", r#"{"bos_token": null}"#);
    assert_eq!(render().unwrap(), None);
    write(
        "tokenizer_config.json",
        r#"{"bos_token": {"content": "<B>"}, "eos_token": "<E>", "chat_template": "{{ bos_token ~ messages[0].content ~ eos_token }}"}"#,
    );
    assert_eq!(render().unwrap().unwrap(), "<B>x<E>");
    write(
        "tokenizer_config.json",
        r#"{"chat_template": [{"name": "tool_use", "template": "no"}, {"name": "default", "template": "yes"}]}"#,
    );
    assert_eq!(render().unwrap().unwrap(), "yes");
    write("chat_template.jinja", "the file wins");
    assert_eq!(render().unwrap().unwrap(), "the file wins");
    write("chat_template.jinja", "{% if %}");
    assert!(
        error(render()).contains("chat_template.jinja: chat template: syntax error"),
        "{}",
        error(render())
    );
    std::fs::remove_file(folder.path().join("chat_template.jinja")).unwrap();
    write(
        "tokenizer_config.json",
        r#"{"chat_template": [{"name": "tool_use", "template": "no"}]}"#,
    );
    assert!(error(render()).contains("\"default\""), "{}", error(render()));
    write("tokenizer_config.json", "{");
    assert!(error(render()).contains("tokenizer_config.json: not JSON"), "{}", error(render()));
}
