//! Week 1, day 6, task 1: greedy decoding.

use tiny_llm::week1::{
    generate::{argmax, next_token_logits},
    model::Model,
};
use tiny_llm_formats::{config::ModelConfig, tensor::tensor};
use tiny_llm_harness::check::{assert_accepts, assert_agrees, assert_answer, assert_panics};

use super::{Lines, fixtures};

/// Compares the result of `argmax` for each list of logits with the expected token.
fn check_argmax(property: &str, cases: &[(&[f32], u32)]) {
    let line = |logits: &[f32], best| format!("argmax({logits:?}) = {best}");
    let found = cases.iter().map(|&(logits, _)| line(logits, argmax(logits))).collect();
    let expected = cases.iter().map(|&(logits, best)| line(logits, best)).collect();
    assert_answer(property, &Lines(found), &Lines(expected));
}

#[test]
fn task_1_argmax_returns_index_of_largest_logit() {
    check_argmax(
        "argmax is the index of the largest logit, whatever its sign",
        &[
            (&[0.5, 2.0, -1.0, 1.5], 1),
            (&[3.0], 0),
            (&[0.25, 0.75, 0.5], 1),
            (&[1.0, -4.0, 2.0], 2),
            (&[-5.0, -2.0, -0.5, -9.0], 2),
            (&[-9.0, -8.0, -7.0], 2),
            (&[-1e30, -2e30], 0),
            (&[f32::NEG_INFINITY, -3.0, f32::NEG_INFINITY], 1),
            (&[0.0, f32::INFINITY, 1.0], 1),
            (&[1.0, 1.0 + f32::EPSILON], 1),
        ],
    );
}

#[test]
fn task_1_argmax_returns_first_of_equal_logits() {
    check_argmax(
        "argmax returns the first of equal logits (-0.0 and 0.0 are equal)",
        &[(&[1.0, 4.0, 4.0, 0.0, 4.0, 2.0], 1), (&[-0.0, 0.0], 0), (&[f32::NEG_INFINITY; 3], 0)],
    );
}

#[test]
fn task_1_argmax_with_large_vocabulary() {
    for best in [255, 256, 300, 65_535, 65_536, 151_935] {
        let mut logits = vec![-1.5; 151_936];
        logits[best as usize] = -0.5;
        let found = argmax(&logits);
        assert!(
            found == best,
            "argmax of 151,936 logits, where logit {best} is the largest\n  found    {found}\n  \
             expected {best}"
        );
    }
}

#[test]
fn task_1_argmax_panics_on_empty_input() {
    assert_panics("argmax of no logits, which have no largest", || argmax(&[]));
}

#[test]
fn task_1_next_token_logits_are_from_the_last_position() {
    // Task 1 has two functions. This calls the first before a model is built.
    assert_eq!(argmax(&[0.0, 1.0]), 1, "argmax([0.0, 1.0])");
    let case = fixtures().case("task_1_next_token");
    let config = ModelConfig::from_json(&case.value("config").to_string(), "the fixture's config")
        .expect("a config");
    let model = Model::build(config, &mut |name, _| Ok(case.tensor(name)))
        .expect("Model::build must find every weight");
    let tokens = case.ids("tokens");
    let row = |length: usize| {
        let logits = next_token_logits(&model, &tokens[..length]);
        let n = logits.len();
        assert!(
            n == 61,
            "next_token_logits of {length} tokens: found {n} logits, expected 61: return the \
             logits of the last position only, one for each token of the vocabulary"
        );
        logits
    };
    // Row 0 of the expected logits is for a text of one token, row 1 for four tokens, row 2 for all
    // seven.
    case.check("output", &tensor(&[3, 61], [1, 4, 7].map(row).concat()));
}

#[test]
fn task_1_next_token_logits_uses_the_given_model() {
    assert_eq!(argmax(&[0.0, 1.0]), 1, "argmax([0.0, 1.0])");
    let case = fixtures().case("task_1_next_token");
    let config = || {
        ModelConfig::from_json(&case.value("config").to_string(), "the fixture's config")
            .expect("a config")
    };
    let model = |factor: f32| {
        Model::build(config(), &mut |name, _| {
            let weight = case.tensor(name);
            Ok(if name.contains("norm") { weight * factor } else { weight })
        })
        .expect("Model::build must find every weight")
    };
    let (one, other) = (model(1.0), model(-0.5));
    let tokens = case.ids("tokens");
    let first = next_token_logits(&one, &tokens);
    let second = next_token_logits(&other, &tokens);
    assert!(
        first != second,
        "next_token_logits returns the same logits for two models with different weights: use the \
         model that is passed"
    );
    assert!(
        next_token_logits(&one, &tokens) == first,
        "next_token_logits of the same model and tokens changes after a call with another model: \
         don't store anything between calls"
    );
}

/// Checks inputs that `Model::forward` rejects, and an empty list of tokens.
#[test]
fn task_1_next_token_logits_panics_on_invalid_tokens() {
    assert_eq!(argmax(&[0.0, 1.0]), 1, "argmax([0.0, 1.0])");
    let case = fixtures().case("task_1_next_token");
    let mut config = case.value("config").clone();
    config["max_position_embeddings"] = 5.into();
    let config =
        ModelConfig::from_json(&config.to_string(), "the fixture's config").expect("a config");
    let model = Model::build(config, &mut |name, _| Ok(case.tensor(name)))
        .expect("Model::build must find every weight");
    assert_accepts("next_token_logits of five tokens in a context of five", || {
        next_token_logits(&model, &[1, 2, 3, 4, 60])
    });
    for (why, tokens) in [
        ("six tokens in a context of five", &[1, 2, 3, 4, 5, 6][..]),
        ("twelve tokens in a context of five", &[1; 12]),
        ("token 61, with a vocabulary of 61", &[1, 61]),
        ("no tokens", &[]),
    ] {
        assert_panics(&format!("next_token_logits of {why}"), || next_token_logits(&model, tokens));
    }
}

#[test]
fn task_1_next_token_logits_with_full_context() {
    assert_eq!(argmax(&[0.0, 1.0]), 1, "argmax([0.0, 1.0])");
    let case = fixtures().case("task_1_next_token");
    let mut config = case.value("config").clone();
    config["max_position_embeddings"] = 260.into();
    let config =
        ModelConfig::from_json(&config.to_string(), "the fixture's config").expect("a config");
    let model = Model::build(config, &mut |name, _| Ok(case.tensor(name)))
        .expect("Model::build must find every weight");
    let length = model.context();
    let tokens: Vec<u32> = (0..length as u32).map(|i| i * 37 % 61).collect();
    let found = next_token_logits(&model, &tokens);
    let batch = ndarray::Array2::from_shape_vec((1, length), tokens).expect("one row");
    let all = model.forward(&batch);
    let last = all.index_axis(ndarray::Axis(0), 0).index_axis_move(ndarray::Axis(0), length - 1);
    let what = format!("next_token_logits of {length} tokens, which fill the context");
    let property = "they must equal the last row of the model's logits for all these tokens";
    assert_agrees(&what, &tensor(&[found.len()], found), &last.to_owned(), 0.0, property);
}
