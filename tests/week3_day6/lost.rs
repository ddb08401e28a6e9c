//! Week 3, day 6, task 5: logits that are NaN, in any row.

use std::sync::Arc;

use tiny_llm::{
    week1::sampling::{Rng, SamplerOptions},
    week2::{kernels::naive::decode_row, matrix::Matrix, model::Model},
};
use tiny_llm_harness::check::{assert_accepts, resting_on};

use super::{RULE, Scripted, VOCABULARY, greedy, model, session, speculation, texts};

/// Returns the model, changed so that the logits after `token` and all later tokens are NaN.
fn lost_behind(token: u32) -> Arc<Model> {
    let mut model = Model::clone(&model("llama"));
    let (rows, cols) = (model.embedding.rows, model.embedding.cols);
    let mut table = vec![0.0; rows * cols];
    for (r, row) in table.chunks_exact_mut(cols).enumerate() {
        decode_row(&model.embedding, r, row);
    }
    // A tied output head becomes a separate copy, which stays unchanged.
    model.lm_head.get_or_insert_with(|| Matrix::from_f32(rows, cols, &table));
    table[token as usize * cols] = f32::NAN;
    model.embedding = Matrix::from_f32(rows, cols, &table);
    Arc::new(model)
}

#[test]
fn task_5_step_returns_an_error_on_nan_logits() {
    let mut asked = 0;
    for (prompt, answer) in texts("llama") {
        for at in 0..3 {
            if prompt.contains(&answer[at]) || answer[..at].contains(&answer[at]) {
                continue;
            }
            let model = lost_behind(answer[at]);
            for (drafts, sampling) in [
                (at + 1, greedy()),
                (at + 3, greedy()),
                (at + 1, SamplerOptions::default()),
                (at, greedy()),
            ] {
                let answer = answer.clone();
                let right = answer[..drafts.min(answer.len())].to_vec();
                let drafted = right.len();
                let mut speculation = speculation(
                    Scripted(move |_: &[u32], k: usize| right[..k.min(right.len())].to_vec()),
                    6,
                );
                let mut session = session(Arc::clone(&model), 40);
                let mut text = prompt.clone();
                let what = format!(
                    "a model whose logits are NaN after token {} of {VOCABULARY}, which is draft \
                     {at} of {drafted}",
                    answer[at]
                );
                let found = resting_on(&[RULE], || {
                    assert_accepts(&what, || {
                        speculation.step(
                            &mut session,
                            &mut text,
                            (9, 4),
                            &sampling,
                            &mut Rng::new(3),
                        )
                    })
                });
                assert!(
                    found.is_err() == (drafted > at),
                    "{what}: found {found:?}. Return an error if and only if a logit of the pass \
                     is NaN, also in the row of a draft"
                );
                asked += 1;
            }
        }
    }
    assert!(asked > 0, "the test found no answer with a token that is new in it");
}
