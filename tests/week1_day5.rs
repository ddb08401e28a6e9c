//! Week 1, day 5: embedding and tied output, transformer block, the whole decoder, weights.
//!
//! Expected values: `python-ref/oracle/week1_day5.py`.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use ndarray::Array2;
use tiny_llm::week1::{
    gqa::{GroupedQueryAttention, HeadNorm, Linear},
    mlp::SwiGlu,
    model::{Embedding, Model, TransformerBlock},
    norm::RmsNorm,
    rope::RopeTables,
};
use tiny_llm_formats::{
    Tensor,
    checkpoint::{Dtype, StoredTensor},
    config::ModelConfig,
};
use tiny_llm_harness::{
    check::{Part, resting_on},
    fixtures::{Case, Fixtures},
};

use task_1::{task_1_as_output, task_1_embedding};

#[path = "week1_day5/edges.rs"]
mod edges;
mod parts;

#[path = "week1_day5/task_1.rs"]
mod task_1;
#[path = "week1_day5/task_2.rs"]
mod task_2;
#[path = "week1_day5/task_3.rs"]
mod task_3;
#[path = "week1_day5/task_4.rs"]
mod task_4;

fn fixtures() -> Fixtures {
    Fixtures::open("week1_day5")
}

fn tokens(case: &Case) -> Array2<u32> {
    case.integers("tokens").mapv(|t| t as u32).into_dimensionality().expect("tokens are [B, L]")
}

/// Returns the transformer block of a case. `change` is applied to each of its weights and biases.
fn block(case: &Case, change: impl Fn(&str, Tensor) -> Tensor) -> TransformerBlock {
    let get = |name: &str| change(name, case.tensor(name));
    let eps = case.scalar("eps") as f32;
    let norm = |name: &str| RmsNorm { weight: get(name), eps };
    let head_norm = |name: &str| {
        let weight = case.get(name)?;
        Some(Box::new(move |x: &Tensor| RmsNorm { weight: weight.clone(), eps }.forward(x))
            as HeadNorm)
    };
    let project = |name: &str| Linear {
        weight: get(&format!("self_attn.{name}.weight")),
        bias: case.get(&format!("self_attn.{name}.bias")).map(|bias| change(name, bias)),
    };
    TransformerBlock {
        input_norm: norm("input_layernorm.weight"),
        attention: GroupedQueryAttention {
            n_heads: case.count("n_heads"),
            n_kv_heads: case.count("n_kv_heads"),
            q_proj: project("q_proj"),
            k_proj: project("k_proj"),
            v_proj: project("v_proj"),
            o_proj: project("o_proj"),
            q_norm: head_norm("self_attn.q_norm.weight"),
            k_norm: head_norm("self_attn.k_norm.weight"),
            rope: Arc::new(RopeTables { cos: case.tensor("cos"), sin: case.tensor("sin") }),
        },
        post_attention_norm: norm("post_attention_layernorm.weight"),
        mlp: SwiGlu {
            gate_proj: get("mlp.gate_proj.weight"),
            up_proj: get("mlp.up_proj.weight"),
            down_proj: get("mlp.down_proj.weight"),
        },
    }
}

fn check_block(family: &str) {
    let case = fixtures().case(&format!("task_2_block/{family}"));
    let x = case.tensor("x");
    let before = x.clone();
    resting_on(&parts::OF_A_BLOCK, || {
        let block = block(&case, |_, weight| weight);
        case.check("output", &block.forward(&x, case.get("mask").as_ref()));
    });
    assert_eq!(x, before, "forward must not change its input");
}

/// Returns a whole model with the weights and the configuration of a case.
fn model(case: &Case) -> Model {
    without_layers(true);
    let config =
        ModelConfig::from_json(&case.value("config").to_string(), "config.json of the fixture")
            .expect("a configuration");
    Model::build(config, &mut |name, shape| {
        let weight = case.tensor(name);
        assert_eq!(
            weight.shape(),
            shape,
            "shape of {name}: in the file (left), as requested (right)"
        );
        Ok(weight)
    })
    .expect("Model::build must find every weight")
}

/// Runs a decoder without layers, which calls `Model::forward` with the least other code. Tests of
/// whole models run it first, so they report an unwritten task 3 before any other unwritten task.
fn without_layers(with_head: bool) -> Tensor {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_decoder/no_layers");
    let whole = fixtures.case("task_3_decoder/llama");
    let config =
        ModelConfig::from_json(&whole.value("config").to_string(), "config.json of the fixture")
            .expect("a configuration");
    let model = Model {
        config,
        embedding: Embedding { weight: case.tensor("embedding") },
        blocks: Vec::new(),
        norm: RmsNorm { weight: case.tensor("norm"), eps: case.scalar("eps") as f32 },
        lm_head: with_head.then(|| Linear { weight: case.tensor("head"), bias: None }),
    };
    model.forward(&tokens(&case))
}

const EMBEDDING: &Part =
    &Part { task: "week1-day5 task 1", what: "the embedding", check: check_embedding };

const TRANSFORMER_BLOCK: &Part =
    &Part { task: "week1-day5 task 2", what: "the transformer block", check: check_blocks };

fn check_embedding() {
    task_1_embedding();
    task_1_as_output();
}

fn check_blocks() {
    ["llama", "qwen2", "qwen3"].into_iter().for_each(check_block);
}

/// Returns all parts that a decoder uses, from day 1 on.
fn of_a_decoder() -> Vec<&'static Part> {
    let own = [parts::TABLES, parts::MASK, EMBEDDING, TRANSFORMER_BLOCK];
    parts::OF_A_BLOCK.into_iter().chain(own).collect()
}

fn embedded_model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny-story")
}

fn stored<'a>(dtype: Dtype, shape: &'a [usize], bytes: &'a [u8]) -> StoredTensor<'a> {
    StoredTensor { name: "some.weight", dtype, shape, bytes }
}

/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week1_day5.rs"]
mod fresh;
