//! Week 1, day 6, task 4: chat template.

use tiny_llm::week1::chat::chatml;
use tiny_llm_formats::{chat::Message, text::Tokenizer};
use tiny_llm_harness::{
    check::assert_answer,
    fixtures::{Case, Json, read},
};

use super::{embedded_model, fixtures};

/// Returns the chats of the fixture: messages, and the text without and with a generation prompt.
fn chats(case: &Case) -> Vec<(Vec<Message>, String, String)> {
    let chats: Vec<Json> = case.read("chats");
    let message =
        |m: &Json| Message::new(&read::<String>(&m["role"]), &read::<String>(&m["content"]));
    let chat = |chat: &Json| {
        let messages = read::<Vec<Json>>(&chat["messages"]);
        (messages.iter().map(message).collect(), read(&chat["text"]), read(&chat["prompt"]))
    };
    chats.iter().map(chat).collect()
}

#[test]
fn task_4_chatml_with_and_without_generation_prompt() {
    let messages = [Message::new("system", "Be brief."), Message::new("user", "Hi\nthere")];
    let text = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi\nthere<|im_end|>\n"
        .to_owned();
    let prompt = format!("{text}<|im_start|>assistant\n");
    let chat = "system \"Be brief.\", user \"Hi\\nthere\"";
    assert_answer(
        &format!(
            "chatml of {chat}, without a generation prompt: expected the messages and nothing else"
        ),
        &chatml(&messages, false),
        &text,
    );
    assert_answer(
        &format!(
            "chatml of {chat}, with a generation prompt: expected an open assistant turn at the end"
        ),
        &chatml(&messages, true),
        &prompt,
    );
}

#[test]
fn task_4_chatml_keeps_message_order() {
    let messages = [
        ("user", "Hi."),
        ("system", "Be brief."),
        ("user", "One?"),
        ("user", "Two?"),
        ("tool", "2\r\n\n\t"),
        ("system", " Stop. "),
    ];
    let text: String = messages
        .iter()
        .map(|(role, content)| format!("<|im_start|>{role}\n{content}<|im_end|>\n"))
        .collect();
    assert_answer(
        "chatml of six messages, with system messages in the middle, two messages of the same role \
         in a row, and an unknown role: expected all of them unchanged and in order",
        &chatml(&messages.map(|(role, content)| Message::new(role, content)), false),
        &text,
    );
}

#[test]
fn task_4_chatml_matches_the_chat_template() {
    for (messages, text, prompt) in chats(&fixtures().case("task_4_chat/messages")) {
        let chat: Vec<String> = messages
            .iter()
            .map(|Message { role, content }| format!("{role} {content:?}"))
            .collect();
        let chat = if chat.is_empty() { "no messages".to_owned() } else { chat.join(", ") };
        assert_answer(
            &format!("chatml of {chat}, without a generation prompt"),
            &chatml(&messages, false),
            &text,
        );
        assert_answer(
            &format!("chatml of {chat}, with a generation prompt"),
            &chatml(&messages, true),
            &prompt,
        );
    }
}

#[test]
fn task_4_chatml_copies_roles_and_contents_unchanged() {
    let roles = ["user", "Assistant", "TOOL", "Übersetzer"];
    let contents = ["<|im_start|>system", "a<|im_end|>\nb", "", " {role} %s", "<|endoftext|>"];
    let messages: Vec<_> = (0..40).map(|i| Message::new(roles[i % 4], contents[i % 5])).collect();
    let expected: String = (0..40)
        .map(|i| format!("<|im_start|>{}\n{}<|im_end|>\n", roles[i % 4], contents[i % 5]))
        .collect();
    let found = chatml(&messages, false);
    let first = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert!(
        found == expected,
        "chatml of forty messages with the roles {roles:?} and the contents {contents:?}: the \
         first difference is {first:?} (found, expected); found {} lines, expected {}\n  copy role \
         and content unchanged, whatever they contain",
        found.lines().count(),
        expected.lines().count()
    );
}

#[test]
fn task_4_chatml_markers_are_single_tokens() {
    let fixtures = fixtures();
    let (messages, ..) = chats(&fixtures.case("task_4_chat/messages")).swap_remove(2);
    let text = chatml(&messages, true);
    let tokenizer =
        Tokenizer::from_folder(&embedded_model()).expect("the embedded model's tokenizer");
    let (found, expected) = (
        tokenizer.encode(&text).expect("any text has tokens"),
        fixtures.case("task_4_chat/tokens").ids("ids"),
    );
    assert!(
        found == expected,
        "the tokens of {text:?}: expected token 1 for each <|im_start|>, token 2 for each \
         <|im_end|>, and no extra token at the start\n  found    {found:?}\n  expected {expected:?}"
    );
}
