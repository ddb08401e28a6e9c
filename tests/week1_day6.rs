//! Week 1, day 6: generating.

use std::{cell::RefCell, collections::HashSet, ops::ControlFlow, path::PathBuf};

use tiny_llm::week1::{
    chat::chatml,
    generate::{FinishReason, Limits, argmax, generate, next_token_logits},
    model::Model,
    stream::TextStream,
    weights::load_model,
};
use tiny_llm_kit::{
    chat::Message,
    config::ModelConfig,
    fixtures::{Case, Fixtures},
    tensor::tensor,
    text::Tokenizer,
};

fn fixtures() -> Fixtures {
    Fixtures::open("week1_day6")
}

fn ids(case: &Case, name: &str) -> Vec<u32> {
    case.integers(name).iter().map(|&id| id as u32).collect()
}

fn embedded_model() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/models/tiny-story"))
}

#[test]
fn task_1_argmax_takes_the_largest() {
    for (logits, best) in [
        (&[0.5, 2.0, -1.0, 1.5][..], 1),
        (&[3.0], 0),
        (&[-5.0, -2.0, -0.5, -9.0], 2),
        (&[-9.0, -8.0, -7.0], 2),
        (&[-1e30, -2e30], 0),
        (&[f32::NEG_INFINITY, -3.0, f32::NEG_INFINITY], 1),
        (&[0.0, f32::INFINITY, 1.0], 1),
    ] {
        assert_eq!(argmax(logits), best, "argmax({logits:?})");
    }
}

#[test]
fn task_1_argmax_takes_the_first_of_equal_logits() {
    for (logits, best) in [(&[1.0, 4.0, 4.0, 0.0, 4.0][..], 1), (&[-0.0, 0.0], 0), (&[f32::NEG_INFINITY; 3], 0)] {
        assert_eq!(argmax(logits), best, "argmax({logits:?}): of equal logits the first");
    }
}

#[test]
fn task_1_next_token_logits_are_those_of_the_last_position() {
    // Before a model is built: task 1 has two functions, and this is the first.
    assert_eq!(argmax(&[0.0, 1.0]), 1);
    let fixtures = fixtures();
    let case = fixtures.case("task_1_next_token");
    let config = ModelConfig::from_json(&case.value("config").to_string(), "the fixture's config").expect("a config");
    let model = Model::build(config, &mut |name, _| Ok(case.tensor(name))).expect("all weights are there");
    let tokens = ids(&case, "tokens");
    let rows: Vec<Vec<f32>> = [1, 4, 7].map(|length| next_token_logits(&model, &tokens[..length])).into();
    assert_eq!(rows[0].len(), 61, "one logit for each token of the vocabulary");
    case.check("output", &tensor(&[3, 61], rows.concat()));
}

/// What a generation called, in order.
#[derive(Debug, PartialEq)]
enum Call {
    /// `next_logits` with these tokens.
    Logits(Vec<u32>),
    /// `choose` with these tokens.
    Choose(Vec<u32>),
    /// `on_token` with this token.
    Token(u32),
}
use Call::{Choose, Logits, Token};

/// Runs `generate` with a model that wants to write `script` and then 0 for ever; `interrupt` is the token at which `on_token` ends.
fn run(prompt: &[u32], script: &[u32], limits: &Limits, interrupt: Option<u32>) -> (anyhow::Result<FinishReason>, Vec<Call>) {
    let calls = RefCell::new(Vec::new());
    let mut script = script.iter().copied();
    let result = generate(
        |tokens| {
            calls.borrow_mut().push(Logits(tokens.to_vec()));
            assert!(calls.borrow().len() < 1_000, "the generation does not end; limits: {limits:?}");
            let next = script.next().unwrap_or(0);
            (0..20).map(|id| if id == next { -1.0 } else { -2.0 - id as f32 }).collect()
        },
        prompt,
        limits,
        |logits, tokens| {
            calls.borrow_mut().push(Choose(tokens.to_vec()));
            assert_eq!(logits.len(), 20, "choose receives the logits as they are");
            argmax(logits)
        },
        |token| {
            calls.borrow_mut().push(Token(token));
            if interrupt == Some(token) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    (result, calls.into_inner())
}

fn limits(max_new_tokens: usize, context: usize, stop_tokens: &[u32]) -> Limits {
    Limits { max_new_tokens, context, stop_tokens: HashSet::from_iter(stop_tokens.iter().copied()) }
}

/// The tokens that `on_token` received.
fn written(calls: &[Call]) -> Vec<u32> {
    calls.iter().filter_map(|call| if let Token(token) = call { Some(*token) } else { None }).collect()
}

/// How often the model ran.
fn passes(calls: &[Call]) -> usize {
    calls.iter().filter(|call| matches!(call, Logits(_))).count()
}

#[test]
fn task_2_each_step_hands_on_the_prompt_and_all_new_tokens() {
    let (result, calls) = run(&[7, 8], &[3, 4, 5], &limits(3, 100, &[]), None);
    assert_eq!(result.unwrap(), FinishReason::Length);
    let expected = [
        [Logits(vec![7, 8]), Choose(vec![7, 8]), Token(3)],
        [Logits(vec![7, 8, 3]), Choose(vec![7, 8, 3]), Token(4)],
        [Logits(vec![7, 8, 3, 4]), Choose(vec![7, 8, 3, 4]), Token(5)],
    ];
    assert_eq!(calls, expected.into_iter().flatten().collect::<Vec<_>>(), "each step: logits, choose, on_token, once each");
}

#[test]
fn task_2_max_new_tokens_is_how_many_are_written() {
    for n in [0, 1, 2, 5] {
        let (result, calls) = run(&[7], &[1, 2, 3, 4, 5, 6, 7], &limits(n, 100, &[]), None);
        assert_eq!(result.unwrap(), FinishReason::Length, "max_new_tokens = {n}");
        assert_eq!(written(&calls), (1..=n as u32).collect::<Vec<_>>(), "max_new_tokens = {n}");
        assert_eq!(passes(&calls), n, "max_new_tokens = {n}: a forward pass whose token is not wanted is wasted");
    }
}

#[test]
fn task_2_a_stop_token_ends_the_text_and_is_no_part_of_it() {
    let (result, calls) = run(&[7], &[3, 4, 9, 5], &limits(10, 100, &[9]), None);
    assert_eq!(result.unwrap(), FinishReason::Stop);
    assert_eq!(written(&calls), [3, 4], "the stop token 9 is not handed to on_token");
    assert_eq!(passes(&calls), 3, "nothing runs after a stop token");
}

#[test]
fn task_2_a_stop_token_at_once_writes_nothing() {
    let (result, calls) = run(&[7], &[9, 5, 5], &limits(10, 100, &[9]), None);
    assert_eq!(result.unwrap(), FinishReason::Stop);
    assert_eq!(calls, [Logits(vec![7]), Choose(vec![7])], "look at the token before you append it or hand it on");
}

#[test]
fn task_2_each_of_several_stop_tokens_stops() {
    for stop in [2, 0, 11] {
        let (result, calls) = run(&[7], &[5, stop, 6], &limits(10, 100, &[0, 2, 11]), None);
        assert_eq!((result.unwrap(), written(&calls)), (FinishReason::Stop, vec![5]), "stop tokens 0, 2 and 11; the model wrote 5, {stop}");
    }
}

#[test]
fn task_2_a_stop_token_counts_only_where_the_model_writes_it() {
    let (result, calls) = run(&[9, 1, 9], &[3, 4], &limits(2, 100, &[9]), None);
    assert_eq!(
        (result.unwrap(), written(&calls)),
        (FinishReason::Length, vec![3, 4]),
        "a chat's prompt holds stop tokens of earlier turns"
    );
}

#[test]
fn task_2_a_stop_token_comes_before_a_limit_that_it_would_reach() {
    // The third token is the stop token: two were written, so no limit is reached when it is chosen.
    let (result, calls) = run(&[7], &[3, 4, 9], &limits(3, 4, &[9]), None);
    assert_eq!((result.unwrap(), written(&calls)), (FinishReason::Stop, vec![3, 4]));
}

#[test]
fn task_2_a_limit_that_is_reached_costs_no_forward_pass() {
    // After two tokens the limit stands, although the model would stop by itself now.
    let (result, calls) = run(&[7], &[3, 4, 9], &limits(2, 100, &[9]), None);
    assert_eq!((result.unwrap(), passes(&calls)), (FinishReason::Length, 2));
}

#[test]
fn task_2_the_context_holds_prompt_and_new_tokens() {
    for (prompt, context) in [(3, 5), (3, 4), (3, 3), (1, 2)] {
        let (result, calls) = run(&vec![7; prompt], &[1, 2, 3, 4], &limits(100, context, &[]), None);
        assert_eq!(result.unwrap(), FinishReason::ContextFull, "a prompt of {prompt} in a context of {context}");
        assert_eq!(written(&calls).len(), context - prompt, "a prompt of {prompt} in a context of {context}");
        assert_eq!(passes(&calls), context - prompt, "a prompt of {prompt} in a context of {context}: nothing runs once it is full");
    }
    // Both limits at once: max_new_tokens is looked at first.
    for n in [0, 2] {
        let (result, _) = run(&[7, 7, 7], &[1, 2], &limits(n, 3 + n, &[]), None);
        assert_eq!(result.unwrap(), FinishReason::Length, "both limits are reached after {n} tokens");
    }
}

#[test]
fn task_2_a_prompt_longer_than_the_context_is_an_error() {
    let (result, calls) = run(&[7; 13], &[1], &limits(5, 12, &[]), None);
    let message = result.expect_err("13 tokens do not fit into 12").to_string();
    assert!(message.contains("13") && message.contains("12"), "the message names both lengths: {message}");
    assert_eq!(calls, [], "the model does not run");
    // Even if nothing was to be written.
    assert!(run(&[7; 13], &[1], &limits(0, 12, &[]), None).0.is_err(), "max_new_tokens = 0 does not make it fit");
}

#[test]
fn task_2_an_empty_prompt_is_an_error() {
    for n in [0, 5] {
        let (result, calls) = run(&[], &[1], &limits(n, 12, &[]), None);
        let message = result.expect_err("there is nothing to start from").to_string();
        assert!(message.contains("empty"), "the message says that the prompt is empty: {message}");
        assert_eq!(calls, [], "the model does not run");
    }
}

#[test]
fn task_2_on_token_can_end_it() {
    let (result, calls) = run(&[7], &[3, 4, 5], &limits(10, 100, &[]), Some(4));
    assert_eq!(result.unwrap(), FinishReason::Interrupted);
    assert_eq!((written(&calls), passes(&calls)), (vec![3, 4], 2), "nothing runs after on_token said break");
    // The last token that a limit allows, and the reader ends just then: what happened first is the reason.
    let (result, _) = run(&[7], &[3, 4, 5], &limits(2, 3, &[]), Some(4));
    assert_eq!(result.unwrap(), FinishReason::Interrupted);
}

#[test]
fn task_2_the_embedded_model_writes_what_transformers_writes() {
    // Before the model is loaded.
    assert_eq!(run(&[7], &[], &limits(0, 9, &[]), None).0.unwrap(), FinishReason::Length);
    let model = load_model(&embedded_model()).expect("the embedded model");
    let fixtures = fixtures();
    for name in fixtures.cases("task_2_greedy/") {
        let case = fixtures.case(&name);
        let (prompt, expected) = (ids(&case, "prompt"), ids(&case, "new"));
        let stop: Vec<u32> = case.value("stop").as_array().expect("a list").iter().map(|id| id.as_u64().expect("an id") as u32).collect();
        let mut new = Vec::new();
        let reason = generate(
            |tokens| next_token_logits(&model, tokens),
            &prompt,
            &limits(case.count("max_new_tokens"), model.config.max_positions, &stop),
            |logits, _| argmax(logits),
            |token| {
                new.push(token);
                ControlFlow::Continue(())
            },
        )
        .expect("the prompt fits");
        assert_eq!(new, expected, "{name}: expected the text {}", case.value("text"));
        let stopped = case.value("stopped").as_bool().expect("yes or no");
        assert_eq!(reason, if stopped { FinishReason::Stop } else { FinishReason::Length }, "{name}");
    }
}

/// One example of the fixture: its name, its bytes, its text, and the text that is certain after each number of bytes.
fn examples() -> Vec<(String, Vec<u8>, String, Vec<String>)> {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_stream/bytes");
    let text = |value: &str| value.to_owned();
    let examples = case.value("examples").as_array().expect("a list");
    examples
        .iter()
        .map(|e| {
            let bytes = e["bytes"].as_array().expect("bytes").iter().map(|b| b.as_u64().expect("a byte") as u8).collect();
            let certain = e["certain"].as_array().expect("texts").iter().map(|t| text(t.as_str().expect("a text"))).collect();
            (text(e["name"].as_str().expect("a name")), bytes, text(e["text"].as_str().expect("a text")), certain)
        })
        .collect()
}

/// All ways to cut `n` bytes into pieces if there are few of them, else all ways with at most two cuts; as sorted lists of cuts.
fn ways_to_cut(n: usize) -> Vec<Vec<usize>> {
    if n <= 11 {
        (0..1u32 << (n - 1)).map(|cuts| (1..n).filter(|i| cuts >> (i - 1) & 1 == 1).collect()).collect()
    } else {
        (1..n).flat_map(|i| (i..n).map(move |j| if i == j { vec![i] } else { vec![i, j] })).chain([vec![], (1..n).collect()]).collect()
    }
}

#[test]
fn task_3_a_character_comes_whole() {
    let mut stream = TextStream::default();
    let found: Vec<String> = "a😀é".bytes().map(|byte| stream.push(&[byte])).collect();
    assert_eq!(found, ["a", "", "", "", "😀", "", "é"], "byte by byte: nothing until a character is complete, then the character");
    assert_eq!(stream.finish(), "", "nothing is left");
}

#[test]
fn task_3_the_pieces_make_up_the_text_however_it_is_cut() {
    for (name, bytes, text, certain) in examples() {
        for cuts in ways_to_cut(bytes.len()) {
            let mut stream = TextStream::default();
            let (mut found, mut from) = (String::new(), 0);
            for to in cuts.iter().copied().chain([bytes.len()]) {
                found += &stream.push(&bytes[from..to]);
                assert_eq!(
                    found, certain[to],
                    "{name}: {bytes:02x?} cut at {cuts:?}: after {to} bytes, all text that is certain and no more (found ≠ expected)"
                );
                from = to;
            }
            found += &stream.finish();
            assert_eq!(found, text, "{name}: {bytes:02x?} cut at {cuts:?}, after finish");
            assert_eq!(stream.finish(), "", "{name}: what was held back comes once");
        }
    }
}

#[test]
fn task_3_letters_are_not_held_back() {
    let mut stream = TextStream::default();
    for piece in ["Once", " upon", "", " a", "\n", " time"] {
        assert_eq!(stream.push(piece.as_bytes()), piece, "whole characters come at once, spaces included");
    }
    assert_eq!(stream.finish(), "");
}

#[test]
fn task_3_what_is_held_back_at_the_end_becomes_one_replacement_character() {
    for cut in 1..4 {
        let mut stream = TextStream::default();
        let found = stream.push(&"ab😀".as_bytes()[..2 + cut]);
        assert_eq!((&found[..], &stream.finish()[..]), ("ab", "\u{fffd}"), "{cut} of the four bytes of an emoji, then the end");
    }
}

#[test]
fn task_3_tokens_of_the_embedded_model_become_text() {
    let mut stream = TextStream::default();
    let mut found = stream.push(b"");
    let fixtures = fixtures();
    let case = fixtures.case("task_3_stream/tokens");
    let tokenizer = Tokenizer::from_folder(&embedded_model()).expect("the embedded model's tokenizer");
    for id in ids(&case, "ids") {
        let piece = stream.push(&tokenizer.token_bytes(id));
        assert!(!piece.contains('\u{fffd}'), "after {found:?} token {id} gave {piece:?}: half a character has to wait for its other half");
        found += &piece;
    }
    assert_eq!(found + &stream.finish(), case.value("text").as_str().expect("a text"));
}

/// One chat of the fixture: its messages, and its text without and with the beginning of an answer.
fn chats(case: &Case) -> Vec<(Vec<Message>, String, String)> {
    let text = |value: &str| value.to_owned();
    let chats = case.value("chats").as_array().expect("a list");
    chats
        .iter()
        .map(|chat| {
            let messages = chat["messages"].as_array().expect("messages").iter();
            let messages = messages.map(|m| Message::new(m["role"].as_str().expect("a role"), m["content"].as_str().expect("a content")));
            (messages.collect(), text(chat["text"].as_str().expect("a text")), text(chat["prompt"].as_str().expect("a text")))
        })
        .collect()
}

#[test]
fn task_4_chatml_is_what_the_template_gives() {
    for (messages, text, prompt) in chats(&fixtures().case("task_4_chat/messages")) {
        assert_eq!(chatml(&messages, false), text, "{messages:?}");
        assert_eq!(chatml(&messages, true), prompt, "{messages:?}, with the beginning of an answer");
    }
}

#[test]
fn task_4_chatml_by_hand() {
    let messages = [Message::new("system", "Be brief."), Message::new("user", "Hi\nthere")];
    let text = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi\nthere<|im_end|>\n";
    assert_eq!(chatml(&messages, false), text);
    assert_eq!(chatml(&messages, true), format!("{text}<|im_start|>assistant\n"), "the answer begins after the line feed");
}

#[test]
fn task_4_each_mark_becomes_one_token() {
    let fixtures = fixtures();
    let (messages, ..) = chats(&fixtures.case("task_4_chat/messages")).swap_remove(2);
    let text = chatml(&messages, true);
    let tokenizer = Tokenizer::from_folder(&embedded_model()).expect("the embedded model's tokenizer");
    let case = fixtures.case("task_4_chat/tokens");
    assert_eq!(tokenizer.encode(&text).expect("any text has tokens"), ids(&case, "ids"), "the tokens of {text:?}");
}
