//! Week 2, day 7, task 3.

use std::{ops::Range, sync::Arc};
use tiny_llm::week2::{
    blocks::quantize_row,
    cache::CacheType,
    generate::Session,
    kernels::Rung,
    load::{Rope, build},
    matrix::Matrix,
    model::Model,
    parallel::Team,
    plan::{AttentionKind, Plan},
    rope::RopeLayout,
    streaming::{Query, attend_block},
};
use tiny_llm_formats::{Tensor, config::ModelConfig, gguf::TensorType, tensor::tensor};
use tiny_llm_harness::{
    allocations::count,
    check::{assert_accepts, assert_agrees, assert_panics, resting_on},
    fixtures::random,
};

use super::{
    ABSORB, BEFORE, OnePosition, Stored, check_every_position, fixtures, values, whatever_was_there,
};

#[test]
fn task_3_attend_block_includes_every_position() {
    check_every_position("attend_block", |runs| {
        let queries = [const { Query { q: &[1.0], visible: 0..600 } }; 3];
        let mut out = vec![BEFORE; 3];
        attend_block(&queries, runs.iter().copied(), 1, 1.0, &mut out);
        out
    });
}

#[track_caller]
fn check_block(case: &str) {
    let case = fixtures().case(&format!("task_3_attend_block/{case}"));
    let (q, stored) = (case.tensor("q"), Stored::of(&case));
    let numbers = values(&q);
    let visible: Vec<(usize, usize)> = case.read("visible");
    let queries: Vec<Query> = numbers
        .chunks_exact(stored.dim)
        .zip(visible)
        .map(|(q, (start, end))| Query { q, visible: start..end })
        .collect();
    // A cache returns the positions that a query sees.
    let runs = || {
        stored.runs().filter(|run| {
            let overlaps =
                |seen: &Range<usize>| seen.start < run.start + run.len && run.start < seen.end;
            queries.iter().any(|query| overlaps(&query.visible))
        })
    };
    let rows: Vec<String> =
        queries.iter().map(|query| format!("the query that sees {:?}", query.visible)).collect();
    let scale = case.scalar("scale") as f32;
    resting_on(&[ABSORB], || {
        let out = whatever_was_there(q.len(), |out| {
            attend_block(&queries, runs(), stored.dim, scale, out);
        });
        case.check_rows("output", &rows, &tensor(q.shape(), out));
    });
}

#[test]
fn task_3_attend_block_is_causal() {
    check_block("causal");
}

#[test]
fn task_3_attend_block_of_whole_prompt() {
    check_block("whole_prompt");
}

#[test]
fn task_3_attend_block_of_two_heads() {
    check_block("heads_of_a_group");
}

#[test]
fn task_3_attend_block_at_tile_boundaries() {
    check_block("tile_edge");
}

#[test]
fn task_3_attend_block_over_several_runs() {
    check_block("runs");
}

#[test]
fn task_3_attend_block_with_sliding_windows() {
    check_block("windows");
}

#[test]
fn task_3_attend_block_over_runs_starting_after_0() {
    check_block("run_given_back");
}

#[test]
fn task_3_attend_block_accepts_128_queries_of_size_256() {
    assert_accepts("attend_block with 128 queries of size 256", || {
        OnePosition::new(128, 256).block()
    })
    .check("query");
}

#[test]
fn task_3_attend_block_panics_on_129_queries() {
    assert_panics("attend_block with 129 queries", || OnePosition::new(129, 8).block());
}

#[test]
fn task_3_attend_block_panics_on_head_size_257() {
    assert_panics("attend_block with a head of size 257", || OnePosition::new(1, 257).block());
}

/// Returns a decoder of two layers with random f32 weights: four query heads, and two key and value
/// heads of 16.
fn model() -> Arc<Model> {
    model_in(TensorType::F32)
}

/// Works like [`model`], with matrices of type `tensor_type`.
fn model_in(tensor_type: TensorType) -> Arc<Model> {
    let json = r#"{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "intermediate_size": 96, "vocab_size": 50, "hidden_act": "silu", "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "tie_word_embeddings": true}"#;
    let config = ModelConfig::from_json(json, "config.json").expect("a plain configuration");
    let rope = Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() };
    let mut seed = 0;
    let mut matrix = |name: &str, shape: &[usize]| {
        seed += 1;
        let norm = name.ends_with("norm.weight");
        // Weights of this size keep the residual stream at about 1 and scores at a few units.
        let numbers: Vec<f32> = random(seed, shape)
            .iter()
            .map(|x| if norm { 1.0 + 0.2 * x } else { 0.2 * x })
            .collect();
        let [rows, cols] = *shape else { return Ok(Matrix::from_f32(1, shape[0], &numbers)) };
        let mut bytes = vec![0; tensor_type.row_bytes(rows * cols).expect("rows of whole blocks")];
        quantize_row(tensor_type, &numbers, &mut bytes);
        Matrix::new(rows, cols, tensor_type, bytes.into())
    };
    Arc::new(build(config, &rope, 256, &mut matrix).expect("build must find every weight"))
}

/// Returns the logits `[V]` after 75 tokens, which are computed in chunks of `chunk`.
fn logits(attention: AttentionKind, cache_type: CacheType, chunk: usize) -> Tensor {
    let tokens: Vec<u32> = (0..75).map(|i| i * 7919 % 50).collect();
    let plan = Arc::new(Plan { kernels: Rung::Naive.into(), attention, team: Team::new(1) });
    let mut session = Session::new(model(), plan, 128, cache_type);
    let logits = session.feed(&tokens, chunk).expect("feed must accept 75 tokens").to_vec();
    tensor(&[logits.len()], logits)
}

#[test]
fn task_3_streaming_logits_match_two_pass() {
    let expected = logits(AttentionKind::TwoPass, CacheType::F32, 75);
    for chunk in [1, 33, 75] {
        // Logits are below 16, with about a hundred roundings by 2^-24 in two layers.
        let found = logits(AttentionKind::Streaming, CacheType::F32, chunk);
        let property = format!(
            "streaming attention in chunks of {chunk} must equal two-pass attention, except for \
             rounding"
        );
        assert_agrees("logits", &found, &expected, 1e-4, &property);
    }
}

#[test]
fn task_3_f16_cache_barely_changes_logits() {
    let full = logits(AttentionKind::Streaming, CacheType::F32, 75);
    let half = logits(AttentionKind::Streaming, CacheType::F16, 75);
    // f16 keeps 11 bits, so each key and value has a relative error of up to 2^-12. Many of them
    // add up in a logit of up to 16.
    assert_agrees(
        "logits",
        &half,
        &full,
        0.05,
        "rounding keys and values to f16 may change logits only by hundredths",
    );
    assert!(
        values(&half) != values(&full),
        "the logits are the same with an f16 cache and an f32 cache, but an f16 cache must round \
         keys and values"
    );
}

#[test]
fn task_3_int8_activations_barely_change_logits() {
    let model = model_in(TensorType::Q8_0);
    let logits = |rung: Rung| {
        let kernels = rung.into();
        let plan =
            Arc::new(Plan { kernels, attention: AttentionKind::Streaming, team: Team::new(1) });
        let logits = Session::new(Arc::clone(&model), plan, 8, CacheType::F32)
            .feed(&[3, 1, 4, 1, 5], 5)
            .expect("feed must accept five tokens")
            .to_vec();
        tensor(&[logits.len()], logits)
    };
    // Activations are rounded to 1/254 of the largest of 32, in each of eight successive products.
    let property = "int8 activations may change logits only by hundredths: quantize each input \
                    after it is written, including that of the output projection (`Plan::matmul`)";
    assert_agrees(
        "logits with integer kernels, compared with naive kernels",
        &logits(Rung::Integer),
        &logits(Rung::Naive),
        0.4,
        property,
    );
}

#[test]
fn task_3_decoding_a_token_allocates_nothing() {
    let plan = Arc::new(Plan {
        kernels: Rung::Fused.into(),
        attention: AttentionKind::Streaming,
        team: Team::new(1),
    });
    let mut session = Session::new(model(), plan, 256, CacheType::F16);
    session.feed(&[1, 2, 3, 4, 5], 5).expect("feed must accept five tokens");
    session.feed(&[6], 1).expect("feed must accept a sixth token");
    let most = (0..40)
        .map(|i| count(|| session.feed(&[i + 7], 1).map(<[f32]>::len)).0)
        .max()
        .expect("forty counts");
    assert!(
        most == 0,
        "heap allocations for one decoded token after the first: found {most}, expected none"
    );
}
