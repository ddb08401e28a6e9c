//! Week 1, day 5, on fresh inputs.

use std::{collections::BTreeMap, fs, sync::Arc};

use ndarray::Array2;
use tiny_llm::week1::{
    gqa::{GroupedQueryAttention, Linear},
    mlp::SwiGlu,
    model::{Embedding, Model, TransformerBlock},
    norm::RmsNorm,
    rope::RopeTables,
    weights::{load_model, to_f32},
};
use tiny_llm_formats::{
    checkpoint::{Dtype, StoredTensor},
    config::ModelConfig,
};
use tiny_llm_harness::fresh::Fresh;

const QWEN3: &str = r#"{"model_type": "qwen3", "hidden_size": 6, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 4, "num_hidden_layers": 2, "intermediate_size": 8,
    "vocab_size": 11, "max_position_embeddings": 16, "rms_norm_eps": 1e-5, "rope_theta": 500.0,
    "hidden_act": "silu", "tie_word_embeddings": false}"#;

fn tokens(fresh: &Fresh, rows: usize, length: usize) -> Array2<u32> {
    Array2::from_shape_simple_fn((rows, length), || fresh.below(11) as u32)
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week1-day5 task 1");
    let embedding = Embedding { weight: fresh.tensor(&[11, 5]) };
    let tokens = tokens(&fresh, 2, 4);
    fresh.answer("embedded", &embedding.forward(&tokens), 0.0);
    let x = fresh.tensor(&[2, 3, 5]);
    fresh.answer("as output", &embedding.as_output(&x), 1e-4);
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week1-day5 task 2");
    let (heads, kv_heads, d, e, i, l) = (4, 2, 4, 6, 7, 5);
    let linear =
        |out: usize, width: usize| Linear { weight: fresh.tensor(&[out, width]), bias: None };
    let (q_proj, k_proj, v_proj, o_proj) = (
        linear(heads * d, e),
        linear(kv_heads * d, e),
        linear(kv_heads * d, e),
        linear(e, heads * d),
    );
    let rope = RopeTables { cos: fresh.tensor(&[l, d / 2]), sin: fresh.tensor(&[l, d / 2]) };
    let norm = || RmsNorm { weight: fresh.tensor(&[e]), eps: 0.125 };
    let block = TransformerBlock {
        input_norm: norm(),
        post_attention_norm: norm(),
        attention: GroupedQueryAttention {
            n_heads: heads,
            n_kv_heads: kv_heads,
            q_proj,
            k_proj,
            v_proj,
            o_proj,
            q_norm: None,
            k_norm: None,
            rope: Arc::new(rope),
        },
        mlp: SwiGlu {
            gate_proj: fresh.tensor(&[i, e]),
            up_proj: fresh.tensor(&[i, e]),
            down_proj: fresh.tensor(&[e, i]),
        },
    };
    let (x, mask) = (fresh.tensor(&[2, l, e]), fresh.tensor(&[l, l]));
    fresh.answer("block", &block.forward(&x, Some(&mask)), 2e-2);
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week1-day5 task 3");
    for tied in ["false", "true"] {
        let json = QWEN3.replace("false}", &format!("{tied}}}"));
        let config = ModelConfig::from_json(&json, "config.json").expect("a configuration");
        let model = Model::build(config, &mut |_, shape| Ok(fresh.tensor(shape) * 0.5));
        let tokens = tokens(&fresh, 2, 7);
        let logits = model.expect("Model::build must find every weight").forward(&tokens);
        fresh.answer("logits", &logits, 1e-3);
    }
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week1-day5 task 4");
    for (dtype, size) in [(Dtype::BF16, 2), (Dtype::F16, 2), (Dtype::F32, 4)] {
        let bytes = fresh.bytes(3 * 5 * size + 1);
        let stored = StoredTensor { name: "w", dtype, shape: &[3, 5], bytes: &bytes[1..] };
        fresh.answer("as f32", &to_f32(&stored).expect("a type that is supported"), 0.0);
    }

    // A folder with random weights.
    let config = ModelConfig::from_json(QWEN3, "config.json").expect("a configuration");
    let (mut header, mut data) = (BTreeMap::new(), Vec::new());
    Model::build(config, &mut |name, shape| {
        let (weight, start) = (fresh.tensor(shape), data.len());
        data.extend(weight.iter().flat_map(|x| x.to_le_bytes()));
        let place = format!(
            r#""{name}":{{"dtype":"F32","shape":{shape:?},"data_offsets":[{start},{}]}}"#,
            data.len()
        );
        header.insert(start, place);
        Ok(weight)
    })
    .expect("every weight is drawn");
    let header = format!("{{{}}}", header.into_values().collect::<Vec<_>>().join(","));
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat();
    let folder = std::env::temp_dir().join(format!("tiny-llm-fresh-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder");
    fs::write(folder.join("config.json"), QWEN3).expect("written");
    fs::write(folder.join("model.safetensors"), file).expect("written");
    let model = load_model(&folder);
    fs::remove_dir_all(&folder).expect("removed");
    let model = model.expect("a model");
    fresh.answer("embedding", &model.embedding.weight, 0.0);
    fresh.answer("norm", &model.norm.weight, 0.0);
    fresh.answer("head", &model.lm_head.expect("a head of its own").weight, 0.0);
    for block in &model.blocks {
        fresh.answer("k_proj", &block.attention.k_proj.weight, 0.0);
        fresh.answer("down_proj", &block.mlp.down_proj, 0.0);
        fresh.answer("norm before the MLP", &block.post_attention_norm.weight, 0.0);
    }
}
