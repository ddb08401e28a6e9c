//! Week 1, day 5, task 3: the whole decoder.

use std::collections::HashMap;

use ndarray::{Array2, Axis};
use tiny_llm::week1::{
    activations::{activations, tasks_of},
    gqa::Linear,
    model::{MAX_CONTEXT, Model},
};
use tiny_llm_formats::{
    Tensor,
    checkpoint::{Checkpoint, Dtype},
    config::ModelConfig,
    tensor::tensor,
};
use tiny_llm_harness::{
    check::{self, resting_on},
    fixtures::Fixtures,
};

use super::{embedded_model, fixtures, model, of_a_decoder, tokens, without_layers};

#[test]
fn task_3_logits_are_independent_of_later_tokens() {
    let case = fixtures().case("task_3_decoder/qwen2");
    let model = model(&case);
    let before = tokens(&case);
    let mut after = before.clone();
    let last = before.ncols() - 1;
    after.column_mut(last).mapv_inplace(|token| (token + 1) % model.config.vocab_size as u32);
    let (x, y) = (model.forward(&before), model.forward(&after));
    let (x, y) = (x.slice_axis(Axis(1), (..last).into()), y.slice_axis(Axis(1), (..last).into()));
    let property = "only the last token was changed, and no token sees a later one: all earlier \
                    logits must stay the same";
    check::assert_agrees(
        "logits of all positions but the last, after a change of the last token, compared with \
         before",
        &y.to_owned(),
        &x.to_owned(),
        0.0,
        property,
    );
}

#[test]
fn task_3_output_head_bias_is_added() {
    let case = fixtures().case("task_3_decoder/llama");
    let (mut model, tokens) = (model(&case), tokens(&case));
    let vocabulary = model.config.vocab_size;
    let weight = model.embedding.weight.clone();
    model.lm_head = Some(Linear { weight: weight.clone(), bias: None });
    let without = model.forward(&tokens);
    let bias = Tensor::from_shape_fn(vec![vocabulary], |at| at[0] as f32 * 8.0);
    model.lm_head = Some(Linear { weight, bias: Some(bias.clone()) });
    check::assert_agrees(
        "logits of a model whose lm_head has a bias, compared with (logits without it) + bias",
        &model.forward(&tokens),
        &(without + bias),
        1e-3,
        "lm_head is a `Linear`: its `forward` adds the bias",
    );
}

#[test]
fn task_3_logits_of_llama() {
    check_whole("llama");
}

#[test]
fn task_3_logits_of_qwen2() {
    check_whole("qwen2");
}

#[test]
fn task_3_logits_of_qwen3() {
    check_whole("qwen3");
}

fn check_whole(family: &str) {
    let case = fixtures().case(&format!("task_3_decoder/{family}"));
    resting_on(&of_a_decoder(), || case.check("logits", &model(&case).forward(&tokens(&case))));
}

#[test]
fn task_3_logits_without_layers_tied_head() {
    check_without_layers("tied", false);
}

#[test]
fn task_3_logits_without_layers_untied_head() {
    check_without_layers("untied", true);
}

/// Compares without naming a likely mistake. Without layers, a final norm inside the loop over the
/// layers looks like no norm at all.
fn check_without_layers(output: &str, with_head: bool) {
    let case = fixtures().case("task_3_decoder/no_layers");
    let what = format!("logits of a decoder without layers, {output}");
    check::assert_close_because(
        &what,
        &without_layers(with_head),
        &case.tensor(output),
        case.tolerance(output),
        "without layers, only the embedding, the final norm and the output head run: apply the \
         final norm once, after the loop over the layers",
    );
}

/// Runs a long text, a short one, and the first again: a call must not affect the next.
#[test]
fn task_3_logits_are_independent_of_earlier_calls() {
    let model = model(&fixtures().case("task_3_decoder/qwen3"));
    let long = Array2::from_shape_fn((2, 9), |(b, l)| (b * 5 + l * 3) as u32);
    let short = long.slice(ndarray::s![.., ..4]).to_owned();
    resting_on(&of_a_decoder(), || {
        let first = model.forward(&long);
        let found = model.forward(&short);
        check::assert_agrees(
            "logits of the first four tokens alone, compared with their logits in an earlier call \
             with all nine",
            &found,
            &first.slice_axis(Axis(1), (..4).into()).to_owned(),
            1e-4,
            "logits must not depend on earlier calls or on later tokens",
        );
        check::assert_agrees(
            "logits of the same nine tokens again, compared with the first time",
            &model.forward(&long),
            &first,
            0.0,
            "the same tokens must always give the same logits",
        );
    });
}

#[test]
fn task_3_tokens_in_any_layout() {
    let model = model(&fixtures().case("task_3_decoder/qwen3"));
    let tokens = ndarray::array![[3u32, 1, 4], [0, 2, 3]];
    let columns = tokens.t().as_standard_layout().into_owned().reversed_axes();
    resting_on(&of_a_decoder(), || {
        let what = "logits of tokens [2, 3] stored column by column in memory";
        let found = check::assert_accepts(what, || model.forward(&columns));
        let property = "row b of the batch is tokens.row(b), whatever the memory order";
        check::assert_agrees(what, &found, &model.forward(&tokens), 1e-5, property);
    });
}

#[test]
fn task_3_forward_panics_on_long_input_or_unknown_token() {
    let case = fixtures().case("task_3_decoder/qwen3");
    let model = model(&case);
    let forward = |tokens: Array2<u32>| model.forward(&tokens).shape().to_vec();
    resting_on(&of_a_decoder(), || {
        let all = check::assert_accepts("logits of 64 tokens in a context of 64", || {
            forward(Array2::from_elem((1, 64), 1))
        });
        assert_eq!(all, [1, 64, 37], "logits of 64 tokens in a context of 64: wrong shape");
        check::assert_panics("logits of 65 tokens in a context of 64", || {
            forward(Array2::from_elem((1, 65), 1))
        });
        check::assert_panics("logits of two sequences of 200 tokens in a context of 64", || {
            forward(Array2::from_elem((2, 200), 1))
        });
        check::assert_panics("token 37, with a vocabulary of 37", || {
            forward(ndarray::array![[1, 36], [37, 0]])
        });
    });
}

#[test]
fn task_3_check_rejects_invalid_tokens() {
    let case = fixtures().case("task_3_decoder/qwen3");
    let model = model(&case);
    let refused = |tokens: &[u32]| {
        model.check(tokens).expect_err("Model::check must refuse these tokens").to_string()
    };
    assert_eq!(model.context(), 64, "Model::context");
    model.check(&[0, 36]).expect("Model::check must accept tokens 0 and 36");
    model.check(&[1; 64]).expect("Model::check must accept 64 tokens in a context of 64");
    assert!(
        refused(&[]).contains("no tokens"),
        "Model::check of no tokens: the error must contain `no tokens`, but it is: {}",
        refused(&[])
    );
    assert!(
        refused(&[1, 37]).contains("token 37 at position 1")
            && refused(&[1, 37]).contains("0 to 36"),
        "Model::check of tokens 1 and 37: the error must contain `token 37 at position 1` and `0 \
         to 36`, but it is: {}",
        refused(&[1, 37])
    );
    assert!(
        refused(&[1; 65]).contains("65 tokens") && refused(&[1; 65]).contains("64"),
        "Model::check of 65 tokens: the error must contain `65 tokens` and `64`, but it is: {}",
        refused(&[1; 65])
    );
}

/// A checkpoint may promise more positions than `MAX_CONTEXT`. Then the tables, `check` and
/// `context` must all use the limit.
#[test]
fn task_3_context_is_limited_to_max_context() {
    let case = fixtures().case("task_3_decoder/qwen3");
    let mut config = model(&case).config;
    config.max_positions = 1_000_000;
    let model = Model::build(config, &mut |name, _| Ok(case.tensor(name)))
        .expect("Model::build must find every weight");
    assert_eq!(
        (model.context(), model.config.max_positions),
        (MAX_CONTEXT, MAX_CONTEXT),
        "context and max_positions, both limited to MAX_CONTEXT"
    );
    assert_eq!(
        model.blocks[0].attention.rope.cos.shape()[0],
        MAX_CONTEXT,
        "number of rows of the RoPE tables, limited to MAX_CONTEXT"
    );
    assert!(
        model.check(&vec![1; MAX_CONTEXT + 1]).is_err(),
        "Model::check must refuse more than MAX_CONTEXT tokens"
    );
}

/// The first activation that differs from PyTorch's names the function with the mistake.
#[test]
fn task_3_embedded_model_activations_match_pytorch() {
    without_layers(false);
    let folder = embedded_model();
    let config = ModelConfig::from_folder(&folder).expect("a configuration");
    let checkpoint = Checkpoint::open(&folder).expect("weights");
    let model = Model::build(config, &mut |name, shape| {
        let stored = checkpoint.tensor(name, shape)?;
        assert_eq!(stored.dtype, Dtype::BF16, "{name}");
        let value = |bytes: &[u8]| f32::from_le_bytes([0, 0, bytes[0], bytes[1]]);
        Ok(tensor(shape, stored.bytes.chunks_exact(2).map(value).collect()))
    })
    .expect("Model::build must find every weight");

    let case = Fixtures::open("week1_day5_activations").case("task_3_activations/tiny_story");
    let positions: Vec<usize> = case.read("positions");
    let mut found = HashMap::new();
    activations(&model, &tokens(&case), &mut |name, value| {
        found.insert(name.to_owned(), value.clone());
    });
    for name in &case.read::<Vec<String>>("names") {
        let found = found.get(name).unwrap_or_else(|| panic!("the model has no activation {name}"));
        let found = found.select(Axis(found.ndim() - 2), &positions);
        let expected = case.tensor(name);
        if let Err(difference) = check::compare(name, &found, &expected, case.tolerance(name)) {
            panic!(
                "the first activation that differs from PyTorch's is {name}\n  computed by \
                 {}\n{difference}\n  rows are positions {positions:?} of the sequence",
                tasks_of(name).join(" or ")
            );
        }
    }
}
