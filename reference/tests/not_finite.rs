//! Checks NaN and infinity on every rung that this machine has, in every type. A NaN or infinite
//! activation makes all outputs of its row NaN or infinite, and changes no other row. Its request
//! ends, and the other requests of the batch get the same answers.
#![cfg(feature = "engine")]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use tiny_llm_formats::{
    FinishReason,
    config::ModelConfig,
    gguf::TensorType,
    request::{Event, Request},
};
use tiny_llm_reference::{
    week2::{
        cache::{CacheShape, CacheType},
        input::{BLOCK, Input, SUPER_BLOCK},
        kernels::{Choice, Rung, matmul, quantize, vector},
        load::{Rope, build},
        matrix::Matrix,
        model::Model,
        parallel::Team,
        plan::{AttentionKind, Plan},
        rope::RopeLayout,
    },
    week3::{engine::Engine, in_parts::InParts, options::EngineOptions, paged::PagedCache},
};

#[path = "parts/random_blocks.rs"]
mod random_blocks;
use random_blocks::{Random, matrix};

/// The vector unit is one setting for the whole process, so tests that set it must not overlap.
static UNIT: Mutex<()> = Mutex::new(());

const BAD: [f32; 3] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];

/// Returns the product `[rows, weight.rows]` on one rung, with a scale per `per_scale` activations.
fn product(rung: Rung, weight: &Matrix, x: &mut Input, per_scale: usize) -> Vec<f32> {
    let team = Team::new(1);
    let mut out = vec![0.0; x.rows * weight.rows];
    matmul(rung, &team, weight, quantize(rung, &team, x, per_scale), &mut out);
    out
}

#[test]
fn matmul_keeps_nan_and_infinity_in_their_row() {
    let mut random = Random(9);
    let cols = 2 * SUPER_BLOCK;
    for tensor_type in TensorType::READ {
        let weight = matrix(tensor_type, 9, cols, || random.next() as u8);
        // Numbers of rows for each kernel: one, few, many, and tiles of 16.
        for rows in [1, 3, 8, 33] {
            let values: Vec<f32> = (0..rows * cols).map(|_| random.signed()).collect();
            for rung in Rung::available() {
                let integers = rung.wants_int8() && tensor_type.block_len() > 1;
                let mut x = Input::default();
                x.resize(rows, cols);
                let widths =
                    [BLOCK, SUPER_BLOCK].into_iter().filter(|&n| n >= tensor_type.block_len());
                for (per_scale, bad) in widths.flat_map(|n| BAD.map(|bad| (n, bad))) {
                    x.values.copy_from_slice(&values);
                    let expected = product(rung, &weight, &mut x, per_scale);
                    for col in [0, 31, 100, cols - 1] {
                        let row = rows / 2;
                        x.values.copy_from_slice(&values);
                        x.values[row * cols + col] = bad;
                        let found = product(rung, &weight, &mut x, per_scale);
                        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                            let place = format!(
                                "{rung}, {tensor_type}, {rows} rows, {bad} in row {row} at {col}, a \
                                 scale for each {per_scale}: row {}, output {}",
                                i / weight.rows,
                                i % weight.rows
                            );
                            if i / weight.rows != row {
                                assert_eq!(found.to_bits(), expected.to_bits(), "{place}");
                            } else if integers {
                                assert!(found.is_nan(), "{place}: found {found}, expected NaN");
                            } else {
                                assert!(!found.is_finite(), "{place}: found {found}");
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Squares that are too large for f32 must not make a row of zeros.
#[test]
fn rms_norm_of_too_large_values_is_nan() {
    let _alone = UNIT.lock().unwrap_or_else(PoisonError::into_inner);
    for rung in Rung::available() {
        vector::use_rung(rung);
        for bad in [BAD[0], BAD[1], 1e38, -3e38, 2e19] {
            for n in [1, 7, 16, 61, 576] {
                let mut x = vec![0.5; n];
                x[n / 2] = bad;
                let mut out = vec![0.0; n];
                vector::rms_norm(&x, &vec![1.0; n], 1e-5, &mut out);
                vector::rms_norm_in_place(&mut x, &vec![1.0; n], 1e-5);
                assert!(
                    out.iter().chain(&x).all(|x| x.is_nan()),
                    "{rung}, {n} values, one of them {bad}: found {out:?}"
                );
            }
        }
    }
}

/// The token whose embedding contains 1e38, whose square is too large for f32.
const POISON: u32 = 13;

/// Returns an untied Llama with matrices of `tensor_type`. All weights of `poisoned_norm` are 3e38.
fn model(tensor_type: TensorType, poisoned_norm: Option<&str>) -> Arc<Model> {
    let config = r#"{
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
        "hidden_size": 256, "intermediate_size": 256, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64, "vocab_size": 48,
        "max_position_embeddings": 96, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "tie_word_embeddings": false, "attention_bias": false, "mlp_bias": false,
        "eos_token_id": 0
    }"#;
    let config = ModelConfig::from_json(config, "config.json").expect("a configuration");
    let mut random = Random(5);
    let mut weights = |name: &str, shape: &[usize]| {
        let [rows, cols] = *shape else {
            let poisoned = poisoned_norm.is_some_and(|norm| name.ends_with(norm));
            return Ok(Matrix::from_f32(
                1,
                shape[0],
                &vec![if poisoned { 3e38 } else { 1.0 }; shape[0]],
            ));
        };
        if name != "model.embed_tokens.weight" {
            return Ok(matrix(tensor_type, rows, cols, || random.next() as u8));
        }
        let mut values: Vec<f32> = (0..rows * cols).map(|_| random.signed()).collect();
        values[POISON as usize * cols + 7] = 1e38;
        Ok(Matrix::from_f32(rows, cols, &values))
    };
    let rope = Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() };
    Arc::new(build(config, &rope, 96, &mut weights).expect("a model"))
}

/// Runs the prompts on three slots that share seven pages. Returns each answer's tokens and reason.
fn answers(model: &Arc<Model>, rung: Rung, prompts: &[Vec<u32>]) -> Vec<(Vec<u32>, FinishReason)> {
    let shape = CacheShape { layers: 2, sequences: 3, kv_heads: 2, capacity: 96, head_dim: 64 };
    let cache = InParts::new(PagedCache::new(shape, 32, 7, CacheType::F16));
    let (kernels, attention) = (Choice::from(rung).alike(), AttentionKind::Streaming);
    let plan = Arc::new(Plan { kernels, attention, team: Team::new(1) });
    let bytes = Box::new(|token: u32| format!("<{token}>").into_bytes());
    let options = EngineOptions { budget: Some(20), ..Default::default() };
    let mut engine = Engine::new(Arc::clone(model), plan, cache, options, bytes);
    let ids = prompts.iter().map(|prompt| {
        let mut request = Request::greedy(prompt.clone(), 6);
        // No answer may continue after this token.
        request.stop_tokens.push(POISON);
        engine.submit(request).expect("a good request")
    });
    let ids: Vec<_> = ids.collect();
    let (mut tokens, mut ends) = (BTreeMap::<_, Vec<u32>>::new(), BTreeMap::new());
    while !engine.is_idle() {
        engine.step(&mut |event| match event {
            Event::Token { id, token } => tokens.entry(id).or_default().push(token),
            Event::Finished { id, reason } => {
                ends.insert(id, reason);
            }
        });
    }
    ids.iter().map(|id| (tokens.remove(id).unwrap_or_default(), ends[id])).collect()
}

#[test]
fn not_finite_values_end_only_their_request() {
    let _alone = UNIT.lock().unwrap_or_else(PoisonError::into_inner);
    let innocent: Vec<Vec<u32>> =
        (0..7).map(|i| (0..5 + 6 * i).map(|p| (p * 7 + i * 5 + 1) % 12).collect()).collect();
    let mut poisoned = innocent.clone();
    poisoned.insert(1, vec![3, 4, POISON, 5]);
    for tensor_type in [
        TensorType::Q8_0,
        TensorType::Q4_0,
        TensorType::Q4_K,
        TensorType::Q6_K,
        TensorType::F16,
        TensorType::F32,
    ] {
        let healthy = model(tensor_type, None);
        for rung in Rung::available() {
            vector::use_rung(rung);
            let expected = answers(&healthy, rung, &innocent);
            let mut found = answers(&healthy, rung, &poisoned);
            let failed = found.remove(1);
            assert_eq!(failed, (Vec::new(), FinishReason::NotFinite), "{rung}, {tensor_type}");
            assert_eq!(found, expected, "{rung}, {tensor_type}: the seven others");
            assert!(
                expected.iter().all(|(_, reason)| *reason != FinishReason::NotFinite),
                "{rung}, {tensor_type}: {expected:?}"
            );
        }
        for norm in
            ["input_layernorm.weight", "post_attention_layernorm.weight", "model.norm.weight"]
        {
            let model = model(tensor_type, Some(norm));
            for rung in Rung::available() {
                vector::use_rung(rung);
                let found = answers(&model, rung, &innocent[..2]);
                let failed = vec![(Vec::new(), FinishReason::NotFinite); 2];
                assert_eq!(found, failed, "{rung}, {tensor_type}, {norm} of 3e38");
            }
        }
    }
}
