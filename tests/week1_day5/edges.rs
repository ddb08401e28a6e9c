//! Week 1, day 5: norms with different eps, different weights of the same shape, empty shapes, and
//! the contents of error messages.

use ndarray::{Array2, array};
use tiny_llm::week1::{
    model::{Embedding, Model, TransformerBlock},
    norm::RmsNorm,
    weights::to_f32,
};
use tiny_llm_formats::{Tensor, checkpoint::Dtype, tensor::tensor};
use tiny_llm_harness::{
    check::{assert_accepts, assert_agrees, assert_panics, assert_refuses, compare, resting_on},
    fixtures::random,
};

use super::{block, fixtures, model, of_a_decoder, parts, stored, tokens};

#[test]
fn task_1_embedding_copies_rows_unchanged() {
    let strange = [-1e-30, f32::MAX, 7.0, f32::from_bits(1), f32::MIN, 0.0];
    let weight = Tensor::from_shape_fn(vec![6, 3], |at| strange[(at[0] + 2 * at[1]) % 6]);
    let embedding = Embedding { weight: weight.clone() };
    let tokens = array![[5u32, 0, 5], [3, 3, 1]];
    let found = embedding.forward(&tokens);
    for ((b, l), &token) in tokens.indexed_iter() {
        for column in 0..3 {
            let (found, expected) = (found[[b, l, column]], weight[[token as usize, column]]);
            assert!(
                found == expected,
                "embedding of {tokens}: at [{b}, {l}, {column}] found {found:?}, expected \
                 {expected:?} from row {token} of the table"
            );
        }
    }
    for bad in [6, 7, 1 << 16, u32::MAX] {
        assert_panics(&format!("embedding of tokens 1 and {bad}, with a vocabulary of 6"), || {
            embedding.forward(&array![[1, bad]])
        });
    }
}

#[test]
fn task_1_as_output_scales_with_its_input() {
    let embedding = Embedding { weight: random(111, &[7, 4]) };
    let x = random(112, &[2, 3, 4]);
    let before = embedding.as_output(&x);
    for factor in [2f32.powi(60), -1.0, -2f32.powi(-60), 0.0] {
        let what =
            format!("as_output of {factor:e} · x, compared with {factor:e} · (as_output of x)");
        let why = "logits are plain dot products: don't limit them or add anything";
        assert_agrees(&what, &embedding.as_output(&(&x * factor)), &(&before * factor), 0.0, why);
    }
    for shape in [&[0, 4][..], &[2, 0, 4]] {
        let what = format!("as_output of x {shape:?}, which has no rows");
        let found = assert_accepts(&what, || embedding.as_output(&Tensor::zeros(shape)));
        let expected = [&shape[..shape.len() - 1], &[7]].concat();
        assert_eq!(found.shape(), expected, "{what}: the result has the wrong shape");
    }
}

/// Returns a case's block with these norms. The projection `silent`, if not empty, is zero.
fn changed(norms: [RmsNorm; 2], silent: &'static str) -> TransformerBlock {
    let case = fixtures().case("task_2_block/llama");
    let off = |name: &str| !silent.is_empty() && name.contains(silent);
    let mut block = block(&case, |name, weight| if off(name) { weight * 0.0 } else { weight });
    [block.input_norm, block.post_attention_norm] = norms;
    block
}

/// If one half of a block (attention or MLP) adds nothing, the block is x + half(norm(x)).
#[test]
fn task_2_block_norms_have_separate_weights_and_eps() {
    let case = fixtures().case("task_2_block/llama");
    let (x, mask) = (case.tensor("x") * 0.01, case.tensor("mask"));
    let e = x.shape()[2];
    let norm = |seed, eps| RmsNorm { weight: random(seed, &[e]), eps };
    for (first, second) in [(1e-6, 1e-2), (1e-2, 1e-6), (3.0, 1e-4), (0.0, 0.5)] {
        let norms = || [norm(121, first), norm(122, second)];
        let what = |half: &str, which: &str, silent: &str| {
            format!(
                "a block whose {silent} is all 0, with norms of eps {first:e} and {second:e}, \
                 compared with x + {half}({which}(x))"
            )
        };
        let property = "each norm has its own weight and eps: the first comes before attention, \
                        the second before the MLP";
        resting_on(&parts::OF_A_BLOCK, || {
            let block = changed(norms(), "down_proj");
            let attended = block.attention.forward(&norms()[0].forward(&x), Some(&mask));
            assert_agrees(
                &what("attention", "input_norm", "down_proj"),
                &block.forward(&x, Some(&mask)),
                &(&x + &attended),
                1e-5,
                property,
            );
            let block = changed(norms(), "o_proj");
            assert_agrees(
                &what("mlp", "post_attention_norm", "o_proj"),
                &block.forward(&x, Some(&mask)),
                &(&x + &block.mlp.forward(&norms()[1].forward(&x))),
                1e-5,
                property,
            );
            // With both halves, the second norm reads the sum.
            let block = changed(norms(), "");
            let attended = block.attention.forward(&norms()[0].forward(&x), Some(&mask));
            let sum = &x + &attended;
            assert_agrees(
                &format!(
                    "a block with norms of eps {first:e} and {second:e}, compared with its parts \
                     called one by one"
                ),
                &block.forward(&x, Some(&mask)),
                &(&sum + &block.mlp.forward(&norms()[1].forward(&sum))),
                1e-4,
                property,
            );
        });
    }
}

/// Builds the case's model, and then changes its public fields with `change`.
fn changed_model(family: &str, change: impl FnOnce(&mut Model)) -> (Model, Array2<u32>) {
    let case = fixtures().case(&format!("task_3_decoder/{family}"));
    let mut model = model(&case);
    change(&mut model);
    (model, tokens(&case))
}

#[test]
fn task_3_model_uses_its_fields_not_its_config() {
    // The last norm uses its own eps, not the configuration's. A very large eps makes the norm a
    // constant factor.
    let of = |norm: f32, config: f32| {
        let (model, tokens) = changed_model("llama", |model| {
            model.norm.eps = norm;
            model.config.rms_norm_eps = config;
        });
        model.forward(&tokens)
    };
    resting_on(&of_a_decoder(), || {
        let property = "use each norm's own eps; the configuration's eps is only used to build the \
                        norms";
        assert_agrees(
            "logits with model.norm.eps 10 and config.rms_norm_eps 1e-6, compared with both at 10",
            &of(10.0, 1e-6),
            &of(10.0, 10.0),
            0.0,
            property,
        );
        assert!(
            of(10.0, 10.0) != of(1e-6, 10.0),
            "logits must differ between model.norm.eps 10 and 1e-6, but are equal: {property}"
        );
    });
    // If there is an `lm_head`, it is the head, whatever the configuration says.
    for (tied, has_head) in [(true, true), (false, false)] {
        let (model, tokens) = changed_model("llama", |model| {
            let weight = model.embedding.weight.mapv(|x| 2.0 - x);
            let bias = None;
            model.lm_head = has_head.then_some(tiny_llm::week1::gqa::Linear { weight, bias });
            model.config.tie_word_embeddings = tied;
        });
        let (other, _) = changed_model("llama", |other| {
            other.embedding.weight.clone_from(&model.embedding.weight);
            other.lm_head.clone_from(&model.lm_head);
            other.config.tie_word_embeddings = !tied;
        });
        resting_on(&of_a_decoder(), || {
            assert_agrees(
                &format!(
                    "logits of a model whose lm_head is {}, compared between tie_word_embeddings \
                     true and false",
                    if has_head { "Some" } else { "None" }
                ),
                &model.forward(&tokens),
                &other.forward(&tokens),
                0.0,
                "use lm_head if it is Some, and the embedding otherwise; tie_word_embeddings only \
                 matters when the model is built",
            );
        });
    }
}

/// A model runs its blocks on the embedding in order.
#[test]
fn task_3_model_runs_its_blocks_in_order() {
    let case = fixtures().case("task_3_decoder/qwen3");
    let tokens = tokens(&case);
    for order in [vec![], vec![0], vec![1], vec![1, 0], vec![0, 1, 0], vec![1; 5]] {
        let mut with = model(&case);
        let mut all: Vec<Vec<TransformerBlock>> =
            order.iter().map(|_| model(&case).blocks).collect();
        with.blocks = order.iter().zip(&mut all).map(|(&i, blocks)| blocks.remove(i)).collect();
        resting_on(&of_a_decoder(), || {
            let length = tokens.ncols();
            let mask = tiny_llm::week1::gqa::causal_mask(length, length);
            let mut x = with.embedding.forward(&tokens);
            for block in &with.blocks {
                x = block.forward(&x, Some(&mask));
            }
            let x = with.norm.forward(&x);
            let expected = match &with.lm_head {
                Some(head) => head.forward(&x),
                None => with.embedding.as_output(&x),
            };
            assert_agrees(
                &format!(
                    "logits of a model with the blocks {order:?} of another model, compared with \
                     its parts called one by one"
                ),
                &with.forward(&tokens),
                &expected,
                1e-3,
                "the order is: embedding, all of `blocks` in their order, the last norm, the head",
            );
        });
    }
}

#[test]
fn task_4_to_f32_keeps_the_shape() {
    for shape in [&[0][..], &[2, 0], &[1], &[1, 1, 2], &[3, 1, 2, 1]] {
        let n: usize = shape.iter().product();
        for (dtype, one) in [
            (Dtype::F32, &[0, 0, 0xC0, 0xBF][..]),
            (Dtype::BF16, &[0xC0, 0xBF]),
            (Dtype::F16, &[0, 0xBE]),
        ] {
            let bytes = one.repeat(n);
            let what = format!("to_f32 of a tensor of type {dtype}, shape {shape:?}");
            let found = assert_accepts(&what, || to_f32(&stored(dtype, shape, &bytes)));
            let found = found.unwrap_or_else(|error| {
                panic!("{what}: this tensor is valid, but it was refused: {error}")
            });
            compare(&what, &found, &Tensor::from_elem(shape, -1.5), 0.0)
                .unwrap_or_else(|text| panic!("{text}"));
        }
    }
    // Two bytes each, in the order of a file.
    let found = to_f32(&stored(Dtype::BF16, &[2], &[0x80, 0x3F, 0x00, 0xC0]))
        .expect("to_f32 must accept bf16");
    compare("bf16 of the bytes 80 3F 00 C0", &found, &tensor(&[2], vec![1.0, -2.0]), 0.0)
        .unwrap_or_else(|text| panic!("{text}"));
}

#[test]
fn task_4_to_f32_error_names_the_supported_types() {
    // Even if there is nothing to convert.
    for (dtype, shape, n) in
        [(Dtype::I8, &[2][..], 2), (Dtype::F64, &[1], 8), (Dtype::U16, &[0], 0)]
    {
        let what = format!("to_f32 of a tensor of type {dtype}, shape {shape:?}");
        let found = assert_refuses(&what, || to_f32(&stored(dtype, shape, &[0; 8][..n])));
        let Err(error) = found else {
            panic!("{what}: the tensor was converted, expected an error")
        };
        let message = error.to_string().to_uppercase();
        assert!(!message.contains('\n'), "{what}: the message has more than one line: {message}");
        let names = message.split(|c: char| !c.is_ascii_alphanumeric()).collect::<Vec<_>>();
        for supported in ["F32", "F16", "BF16"] {
            // Other programs call it `float16`.
            let named = names.contains(&supported)
                || names.contains(&supported.replace('F', "FLOAT").as_str());
            assert!(
                named,
                "{what}: the message must name the supported types F32, F16 and BF16, but \
                 {supported} is missing: {error}"
            );
        }
    }
}
