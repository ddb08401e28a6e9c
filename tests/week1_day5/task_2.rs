//! Week 1, day 5, task 2: transformer block.

use ndarray::Axis;
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::{
    check::{self, resting_on},
    fixtures::random,
};

use super::{block, check_block, fixtures, parts};

#[test]
fn task_2_block_with_one_sequence_one_token_and_large_values() {
    let case = fixtures().case("task_2_block/llama");
    let whole = block(&case, |_, weight| weight);
    let (x, mask) = (case.tensor("x"), case.tensor("mask"));
    resting_on(&parts::OF_A_BLOCK, || {
        let both = whole.forward(&x, Some(&mask));
        for b in 0..x.len_of(Axis(0)) {
            let alone = |x: &Tensor| x.select(Axis(0), &[b]);
            check::assert_agrees(
                &format!(
                    "a block on sequence {b} alone, compared with the same sequence in a batch"
                ),
                &whole.forward(&alone(&x), Some(&mask)),
                &alone(&both),
                1e-4,
                "the number of sequences must not change a sequence's result",
            );
        }
        let off = |part: &'static str| {
            block(
                &case,
                move |name, weight| if name.contains(part) { weight * 0.0 } else { weight },
            )
        };
        let token = x.select(Axis(0), &[0]).select(Axis(1), &[0]);
        check::assert_agrees(
            "a block on one token with the mask [[−inf]], compared with a block whose o_proj is \
             all 0",
            &whole.forward(&token, Some(&tensor(&[1, 1], vec![f32::NEG_INFINITY]))),
            &off("o_proj").forward(&token, None),
            1e-6,
            "apply the mask to a single token too: a query that sees no key gets zeros from \
             attention",
        );
        let large = &x * 1e5;
        let nothing = block(&case, |name, weight| {
            if name.contains("o_proj") || name.contains("down_proj") {
                weight * 0.0
            } else {
                weight
            }
        });
        check::assert_agrees(
            "a block whose o_proj and down_proj are all 0, on 100,000 · x, compared with 100,000 · \
             x",
            &nothing.forward(&large, Some(&mask)),
            &large,
            0.0,
            "attention and MLP add nothing, and the residual stream must not be limited",
        );
    });
}

#[test]
fn task_2_block_of_llama_with_mask() {
    check_block("llama");
}

#[test]
fn task_2_block_of_qwen2_with_biases() {
    check_block("qwen2");
}

#[test]
fn task_2_block_of_qwen3_with_head_norms() {
    check_block("qwen3");
}

#[test]
fn task_2_block_in_any_layout() {
    let case = fixtures().case("task_2_block/llama");
    let block = block(&case, |_, weight| weight);
    let (x, mask) = (case.tensor("x"), case.tensor("mask"));
    resting_on(&parts::OF_A_BLOCK, || {
        check::assert_any_layout("a block", &x, 1e-4, |x| block.forward(x, Some(&mask)));
        check::assert_any_layout("a block with a mask", &mask, 1e-4, |mask| {
            block.forward(&x, Some(mask))
        });
        let length = mask.shape()[mask.ndim() - 1];
        for shape in [&[length][..], &[1, length], &[x.shape()[0], 1, 1, length]] {
            let padding = random(71, shape);
            let full = padding.broadcast(&[length, length][..]);
            // A mask per sequence is expanded for each of them.
            let full = full.or_else(|| padding.broadcast(&[x.shape()[0], 1, length, length][..]));
            let full = full.expect("the mask must broadcast to these axes").to_owned();
            let what = format!("a block with a mask {shape:?}, compared with the expanded mask");
            let found = check::assert_accepts(&what, || block.forward(&x, Some(&padding)));
            let property = "a mask broadcasts to [B, H_q, L, L], with axes counted from the right";
            check::assert_agrees(&what, &found, &block.forward(&x, Some(&full)), 1e-4, property);
        }
    });
}

#[test]
fn task_2_block_with_zero_projections_is_the_identity() {
    let case = fixtures().case("task_2_block/llama");
    let silent = block(&case, |name, weight| {
        if name.contains("o_proj") || name.contains("down_proj") { weight * 0.0 } else { weight }
    });
    let x = case.tensor("x");
    let found = silent.forward(&x, case.get("mask").as_ref());
    // Without diagnosis: too little happens here to tell mistakes apart.
    check::assert_close_because(
        "a block whose o_proj and down_proj are all 0",
        &found,
        &x,
        0.0,
        "attention and MLP return zeros, and each residual connection adds its input: the block \
         must return x unchanged",
    );
}
