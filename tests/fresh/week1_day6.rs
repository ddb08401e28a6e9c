//! Week 1, day 6, on fresh inputs.

use std::{cell::RefCell, collections::HashSet, ops::ControlFlow};

use tiny_llm::week1::{
    chat::chatml,
    generate::{Limits, argmax, generate, next_token_logits},
    model::Model,
    stream::TextStream,
};
use tiny_llm_formats::{chat::Message, config::ModelConfig};
use tiny_llm_harness::fresh::Fresh;

const LLAMA: &str = r#"{"model_type": "llama", "hidden_size": 6, "num_attention_heads": 2,
    "num_key_value_heads": 1, "num_hidden_layers": 1, "intermediate_size": 8, "head_dim": 4,
    "vocab_size": 13, "max_position_embeddings": 16, "rms_norm_eps": 1e-5, "rope_theta": 500.0,
    "hidden_act": "silu", "tie_word_embeddings": false}"#;

#[test]
fn task_1() {
    let fresh = Fresh::new("week1-day6 task 1");
    for _ in 0..4 {
        // Only a few different values, so that some are equal.
        let logits: Vec<f32> = (0..40).map(|_| fresh.below(9) as f32 - 12.0).collect();
        fresh.says("argmax", &argmax(&logits));
        let logits = fresh.f32s(40);
        fresh.says("argmax", &argmax(&logits));
    }
    let config = ModelConfig::from_json(LLAMA, "config.json").expect("a configuration");
    let model = Model::build(config, &mut |_, shape| Ok(fresh.tensor(shape) * 0.5));
    let (model, tokens) =
        (model.expect("Model::build must find every weight"), fresh.tokens(5, 13));
    fresh.answers("next token", &next_token_logits(&model, &tokens), 1e-3);
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week1-day6 task 2");
    for round in 0..12 {
        let length = fresh.from_to(1, 4);
        let prompt = fresh.tokens(length, 50);
        let limits = Limits {
            max_new_tokens: fresh.below(9),
            context: length + fresh.below(9),
            stop_tokens: fresh.tokens(2, 50).into_iter().collect::<HashSet<u32>>(),
        };
        let (chosen, last) = (fresh.tokens(20, 50), fresh.below(12));
        let seen = RefCell::new(Vec::new());
        let reason = generate(
            |tokens| {
                seen.borrow_mut().push(format!("logits {tokens:?}"));
                vec![tokens.len() as f32]
            },
            &prompt,
            &limits,
            |logits, tokens| {
                seen.borrow_mut().push(format!("choose {logits:?} {tokens:?}"));
                chosen[tokens.len() - length]
            },
            |token| {
                seen.borrow_mut().push(format!("token {token}"));
                let end = round % 3 == 0 && token as usize % 12 == last;
                if end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        fresh.says("generate", &(reason.ok(), seen.into_inner()));
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week1-day6 task 3");
    let letters = ["a", "é", "日", "🙂", " ", "Ω"];
    for round in 0..8 {
        let mut bytes: Vec<u8> = (0..12).flat_map(|_| letters[fresh.below(6)].bytes()).collect();
        if round % 2 == 1 {
            // Overwrites three bytes with random ones, which may not be valid UTF-8.
            for _ in 0..3 {
                let at = fresh.below(bytes.len());
                bytes[at] = fresh.bytes(1)[0];
            }
        }
        let (mut stream, mut found) = (TextStream::default(), Vec::new());
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(fresh.from_to(1, rest.len().min(4)));
            found.push(stream.push(piece));
            rest = after;
        }
        found.push(stream.finish());
        fresh.says("pieces of text", &found);
    }
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week1-day6 task 4");
    for add_generation_prompt in [false, true] {
        let messages: Vec<Message> = ["system", "user", "assistant", "user"]
            .map(|role| Message::new(role, &format!("{}\n {} ", fresh.word(5), fresh.word(7))))
            .to_vec();
        fresh.says("chat", &chatml(&messages, add_generation_prompt));
    }
}
